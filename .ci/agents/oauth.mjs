// Goes from a registration to a revoked token with OAuth clients of others: both TypeScript SDKs and
// mcp-remote. Prints "N passed, N failed".
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { Client as Single, StreamableHTTPClientTransport as SingleHTTP } from "@modelcontextprotocol/client";
import { Owner } from "./owner.mjs";
import { solveAll } from "./tasks.mjs";

const { BRIDGE, BRIDGE_TOKEN, PATH } = process.env;
const address = new URL(BRIDGE + "/mcp");
let passed = 0;
let failed = 0;

function check(what, ok, detail) {
  ok ? passed++ : failed++;
  console.log(`${ok ? "ok  " : "FAIL"} ${what}${ok ? "" : `: ${detail}`}`);
}

async function api(method, path) {
  const answer = await fetch(BRIDGE + path, { method, headers: { Authorization: `Bearer ${BRIDGE_TOKEN}` } });
  return answer.json();
}

// granted returns the tokens that OAuth clients have.
const granted = async () => (await api("GET", "/api/tokens")).tokens.filter((token) => token.oauthClient);

const everyChat = (await api("GET", "/api/chats?limit=500")).chats.map((chat) => chat.jid);
const consent = { rights: "read send", chats: everyChat };

// Program is what a program with an SDK remembers.
class Program {
  redirectUrl = "http://localhost:49153/callback";
  clientMetadata = {
    client_name: "An SDK", redirect_uris: [this.redirectUrl], grant_types: ["authorization_code", "refresh_token"], response_types: ["code"],
    token_endpoint_auth_method: "none",
  };
  registrations = 0;

  state = () => "the-state";
  clientInformation = () => this.information;
  saveClientInformation = (information) => { this.information = information; this.registrations++; };
  tokens = () => this.saved;
  saveTokens = (tokens) => { this.saved = tokens; };
  redirectToAuthorization = (link) => { this.link = link; };
  saveCodeVerifier = (verifier) => { this.verifier = verifier; };
  codeVerifier = () => this.verifier;
  invalidateCredentials = () => { this.saved = undefined; };
  saveDiscoveryState = (discovered) => { this.discovered = discovered; };
  discoveryState = () => this.discovered;
}

const withoutSessions = { versionNegotiation: { mode: { pin: "2026-07-28" } } };
for (const [name, client, transport] of [
  ["sdk", () => new Client({ name: "independent", version: "1" }), (program) => new StreamableHTTPClientTransport(address, { authProvider: program })],
  ["client", () => new Single({ name: "independent", version: "2" }, withoutSessions), (program) => new SingleHTTP(address, { authProvider: program })],
]) {
  const program = new Program();
  const first = transport(program);
  await client().connect(first).then(() => check(`${name}: asks first`, false, "it was let in"), () => check(`${name}: asks first`, program.link, "there is no link"));
  const back = await new Owner(BRIDGE_TOKEN).consents(program.link, consent);
  check(`${name}: the answer`, back.searchParams.get("state") === "the-state" && back.searchParams.get("iss") === BRIDGE, back);
  await first.finishAuth(back.searchParams.get("code"), back.searchParams.get("iss"));
  const agent = client();
  await agent.connect(transport(program));
  await agent.listTools();
  await solveAll(agent, (asked, calls, outcome) => check(`${name}, OAuth: ${asked} (${calls} calls)`, outcome === true && calls <= 4, outcome));
  const [token] = await granted();
  check(`${name}: is listed`, token?.name === "An SDK" && token.oauthClient === "localhost" && program.registrations === 1, JSON.stringify(token));
  const former = program.saved;
  program.saved = { ...former, access_token: "brt_EXPIRED" };
  const renewed = await agent.callTool({ name: "status", arguments: {} }).catch((error) => error);
  check(`${name}: renews its secret`, !renewed.isError && program.saved.access_token !== former.access_token && program.saved.refresh_token !== former.refresh_token, renewed);
  await api("DELETE", `/api/tokens/${token.id}`);
  program.link = undefined;
  const refused = await agent.callTool({ name: "status", arguments: {} }).then(() => "answered", (error) => error.name);
  check(`${name}: asks again after it was revoked`, refused !== "answered" && program.link, refused);
  await agent.close();
}

// mcp-remote connects programs that only start others.
const remote = new StdioClientTransport({
  command: process.execPath,
  args: ["node_modules/mcp-remote/dist/proxy.js", address.href, "--transport", "http-only"],
  env: { PATH: `${process.cwd()}/bin:${PATH}`, HOME: process.cwd(), MCP_REMOTE_CONFIG_DIR: `${process.cwd()}/mcp-remote` },
  stderr: "pipe",
});
let said = "";
const asked = new Promise((resolve) => {
  remote.stderr.on("data", (data) => {
    said += data;
    const link = said.match(/http:\S+\/console\/authorize\?\S+/);
    if (link) resolve(link[0]);
  });
});
const desktop = new Client({ name: "desktop", version: "1" });
const connected = desktop.connect(remote);
const failure = connected.then(() => "it was let in", (error) => error);
const link = await Promise.race([asked, failure]);
check("mcp-remote: asks first", String(link).startsWith("http"), `${link}\n${said}`);
if (String(link).startsWith("http")) {
  const back = await new Owner(BRIDGE_TOKEN).consents(link, { rights: "read", chats: everyChat.slice(0, 1) });
  await fetch(back);
  await connected;
  const { tools } = await desktop.listTools();
  check("mcp-remote: tools that read", tools.some((tool) => tool.name === "list_chats") && !tools.some((tool) => tool.name === "send_text"), tools.map((tool) => tool.name));
  const list = await desktop.callTool({ name: "list_chats", arguments: {} });
  check("mcp-remote: one chat", list.structuredContent?.untrusted.chats.length === 1, JSON.stringify(list));
  const [token] = await granted();
  check("mcp-remote: is listed", token && token.chats.length === 1 && token.oauthClient === "localhost", JSON.stringify(token));
  await api("DELETE", `/api/tokens/${token.id}`);
}
await desktop.close();
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed ? 1 : 0);
