// SPDX-License-Identifier: MIT
// Starts each program that is named, with each policy of $POLICIES, and prints the policy and what the program says.
class Launch {
	public static void main(String[] programs) throws Exception {
		for (String program : programs) {
			for (String policy : System.getenv("POLICIES").split(" ")) {
				ProcessBuilder builder = new ProcessBuilder(program);
				builder.environment().put("CPUQUOTA", policy);
				builder.redirectErrorStream(true);
				Process process = builder.start();
				String said = new String(process.getInputStream().readAllBytes());
				process.waitFor();
				System.out.println(policy + ": " + said.trim());
			}
		}
	}
}
