// SPDX-License-Identifier: MIT
/** How many processors the virtual machine sees. */
final class Processors {
	public static void main(String[] arguments) {
		System.out.println(Runtime.getRuntime().availableProcessors());
	}
}
