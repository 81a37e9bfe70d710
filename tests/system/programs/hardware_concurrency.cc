// SPDX-License-Identifier: MIT
// How many threads the C++ library says can run at once.
#include <cstdio>
#include <thread>

int main()
{
	std::printf("%u\n", std::thread::hardware_concurrency());
}
