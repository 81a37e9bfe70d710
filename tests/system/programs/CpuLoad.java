// SPDX-License-Identifier: MIT
/** Prints whether the JVM knows the load of the machine: it reads /proc/stat, CPU by CPU. */
public class CpuLoad {
	public static void main(String[] arguments) {
		com.sun.management.OperatingSystemMXBean system = (com.sun.management.OperatingSystemMXBean)
				java.lang.management.ManagementFactory.getOperatingSystemMXBean();
		double load = 0;

		for (int i = 0; i < 3; i++)
			load = system.getSystemCpuLoad();
		System.out.println(load >= 0 ? "known" : "not known");
	}
}
