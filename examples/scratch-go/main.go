// SPDX-License-Identifier: MIT

// Counts primes, with as many workers as Go runs at once.
package main

import (
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
)

func main() {
	workers := runtime.GOMAXPROCS(0)
	fmt.Printf("GOMAXPROCS=%d NumCPU=%d\n", workers, runtime.NumCPU())

	var next, primes int64
	var all sync.WaitGroup
	for i := 0; i < workers; i++ {
		all.Add(1)
		go func() {
			defer all.Done()
			for number := atomic.AddInt64(&next, 1); number <= 100000; number = atomic.AddInt64(&next, 1) {
				if isPrime(number) {
					atomic.AddInt64(&primes, 1)
				}
			}
		}()
	}
	all.Wait()
	fmt.Printf("%d primes below 100000\n", primes)
}

func isPrime(number int64) bool {
	for divisor := int64(2); divisor*divisor <= number; divisor++ {
		if number%divisor == 0 {
			return false
		}
	}
	return number > 1
}
