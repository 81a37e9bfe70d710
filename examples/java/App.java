// SPDX-License-Identifier: MIT

import com.sun.net.httpserver.HttpServer;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.Executors;

/** Answers each request with the number of its threads, of which it has one for each processor. */
public class App {
	public static void main(String[] arguments) throws Exception {
		int processors = Runtime.getRuntime().availableProcessors();
		byte[] answer = (processors + " processors\n").getBytes(StandardCharsets.UTF_8);

		HttpServer server = HttpServer.create(new InetSocketAddress(8080), 0);
		server.setExecutor(Executors.newFixedThreadPool(processors));
		server.createContext("/", exchange -> {
			exchange.sendResponseHeaders(200, answer.length);
			exchange.getResponseBody().write(answer);
			exchange.close();
		});
		server.start();
		System.out.println("listening on 8080: " + processors + " processors");
	}
}
