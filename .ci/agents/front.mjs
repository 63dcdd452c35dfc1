// Adds a token to requests, for the conformance suite, which has none: front.mjs PORT BRIDGE TOKEN.
// It passes on the Host as it is, because the suite tests what becomes of foreign ones.
import http from "node:http";

const [port, bridge, token] = process.argv.slice(2);
const to = new URL(bridge);

http.createServer((req, res) => {
  const headers = { ...req.headers, authorization: `Bearer ${token}` };
  const out = http.request({ host: to.hostname, port: to.port, path: req.url, method: req.method, headers }, (got) => {
    res.writeHead(got.statusCode, got.headers);
    got.pipe(res);
  });
  out.on("error", () => res.destroy());
  res.on("close", () => out.destroy());
  req.pipe(out);
}).listen(Number(port), "127.0.0.1", () => console.log("listening"));
