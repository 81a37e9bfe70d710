// SPDX-License-Identifier: MIT

// What Go's runtime takes for the number of CPUs: prints runtime.NumCPU() and GOMAXPROCS.
//
//	counts         once
//	counts set N   with a GOMAXPROCS of the program's own, when the runtime has had the time to look again
//	counts follow  for every line of input, with more to do than there are CPUs
package main

import (
	"bufio"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"time"
)

func show() {
	fmt.Println(runtime.NumCPU(), runtime.GOMAXPROCS(0))
}

func set(number string) {
	count, err := strconv.Atoi(number)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	runtime.GOMAXPROCS(count)
	time.Sleep(2500 * time.Millisecond) // Go 1.25 and later look every second
	show()
}

var work uint64

func follow() {
	for i := 0; i < 4; i++ {
		go func() {
			for own := uint64(1); own != 0; own = own*3 + 2 {
			}
			work++
		}()
	}
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		show()
	}
}

func main() {
	switch {
	case len(os.Args) == 3 && os.Args[1] == "set":
		set(os.Args[2])
	case len(os.Args) == 2 && os.Args[1] == "follow":
		follow()
	case len(os.Args) == 1:
		show()
	default:
		fmt.Fprintln(os.Stderr, "usage: counts [set N | follow]")
		os.Exit(2)
	}
}
