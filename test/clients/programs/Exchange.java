import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import static java.nio.charset.StandardCharsets.UTF_8;

/** Sends the requests of standard input with java.net.http; see exchanges.ts. The version is HTTP_1_1, or HTTP_2 to request an upgrade. */
class Exchange {
  public static void main(String[] arguments) throws Exception {
    var client = HttpClient.newBuilder().version(HttpClient.Version.valueOf(arguments[1])).build();
    var in = new BufferedReader(new InputStreamReader(System.in, UTF_8));
    var out = new PrintStream(System.out, true, UTF_8);
    for (String line; (line = in.readLine()) != null; ) {
      var part = line.split("\t", -1);
      var request = HttpRequest.newBuilder(URI.create(arguments[0] + part[1]))
          .method(part[0], part[3].isEmpty() ? BodyPublishers.noBody() : BodyPublishers.ofString(part[3], UTF_8));
      if (!part[2].isEmpty()) request.header("Authorization", "Bearer " + part[2]);
      if (!part[3].isEmpty()) request.header("Content-Type", "application/json");
      var response = client.send(request.build(), BodyHandlers.ofString(UTF_8));
      out.println(response.version() + "\t" + response.statusCode() + "\t" + response.body());
    }
  }
}
