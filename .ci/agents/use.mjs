// Talks to bridged as agents do, with the TypeScript SDKs: over HTTP, and over
// standard input and output. Prints "N passed, N failed".
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { Client as Single, StreamableHTTPClientTransport as SingleHTTP } from "@modelcontextprotocol/client";
import { StdioClientTransport as SingleStdio } from "@modelcontextprotocol/client/stdio";
import { solveAll } from "./tasks.mjs";

const { BRIDGE, BRIDGE_TOKEN, BRIDGED } = process.env;
let passed = 0;
let failed = 0;

function check(what, ok, detail) {
  ok ? passed++ : failed++;
  console.log(`${ok ? "ok  " : "FAIL"} ${what}${ok ? "" : `: ${detail}`}`);
}

async function api(method, path, body) {
  const answer = await fetch(BRIDGE + path, {
    method,
    headers: { Authorization: `Bearer ${BRIDGE_TOKEN}`, "Content-Type": "application/json" },
    body: body && JSON.stringify(body),
  });
  return answer.json();
}

const { chats } = await api("GET", "/api/chats?type=individual");
const [mine, other] = chats.map((chat) => chat.jid);
const token = await api("POST", "/api/tokens", { name: "agent", scopes: ["read", "send"], chats: [mine] });

const address = new URL(BRIDGE + "/mcp");
const bearer = { requestInit: { headers: { Authorization: `Bearer ${token.secret}` } } };
const command = {
  command: BRIDGED,
  args: ["mcp"],
  env: { PATH: process.env.PATH, BRIDGE_TOKEN: token.secret, BRIDGE_URL: BRIDGE },
  stderr: "ignore",
};
const withSessions = () => new Client({ name: "independent", version: "1" });
const withoutSessions = () => new Single({ name: "independent", version: "2" }, { versionNegotiation: { mode: { pin: "2026-07-28" } } });
const ways = {
  http: [withSessions, () => new StreamableHTTPClientTransport(address, bearer)],
  stdio: [withSessions, () => new StdioClientTransport(command)],
  "http without sessions": [withoutSessions, () => new SingleHTTP(address, bearer)],
  "stdio without sessions": [withoutSessions, () => new SingleStdio(command)],
};

for (const [name, [independent, transport]] of Object.entries(ways)) {
  const client = independent();
  await client.connect(transport());
  const call = async (tool, args = {}) => {
    const result = await client.callTool({ name: tool, arguments: args });
    return { text: result.content.map((part) => part.text ?? "").join(""), isError: Boolean(result.isError), structured: result.structuredContent };
  };
  const { tools } = await client.listTools();
  const names = tools.map((tool) => tool.name);
  check(`${name}: tools`, ["status", "list_chats", "send_text"].every((tool) => names.includes(tool)), names);
  check(`${name}: hints`, tools.every((tool) => tool.annotations.readOnlyHint !== ["send_text", "reply", "react", "send_file", "vote", "pin", "star", "save_contact", "cancel_scheduled"].includes(tool.name)), JSON.stringify(tools.map((tool) => tool.annotations)));
  const list = await call("list_chats");
  check(`${name}: one chat`, list.structured.untrusted.chats.length === 1 && list.structured.untrusted.chats[0].jid === mine, list.text);
  check(`${name}: the text says the same, shorter`, JSON.parse(list.text).untrusted.chats[0][0] === mine && list.text.length < JSON.stringify(list.structured).length, list.text);
  check(`${name}: schemas of the answers`, tools.every((tool) => tool.outputSchema?.type === "object"), JSON.stringify(tools.map((tool) => tool.outputSchema)));
  const messages = await call("list_messages", { jid: mine });
  check(`${name}: messages`, messages.structured.untrusted.messages.length > 0, messages.text);
  const outside = await call("send_text", { jid: other, text: "no" });
  check(`${name}: no other chat`, outside.isError && outside.text.includes("there is no chat"), outside.text);
  const sent = await call("send_text", { jid: mine, text: `hello over ${name}` });
  check(`${name}: a text is sent`, !sent.isError && sent.structured.msgId, sent.text);
  const { resourceTemplates } = await client.listResourceTemplates();
  check(`${name}: resources`, resourceTemplates.length === 2, JSON.stringify(resourceTemplates));
  const chat = await client.readResource({ uri: `bridged://chats/${mine}` });
  check(`${name}: a resource`, JSON.parse(chat.contents[0].text).chatJid === mine, chat.contents[0].text);
  const { prompts } = await client.listPrompts();
  check(`${name}: prompts`, prompts.length === 2, JSON.stringify(prompts));
  await client.close();
}

await api("DELETE", `/api/tokens/${token.id}`);

// The ten tasks, in both versions of the protocol.
const everyChat = (await api("GET", "/api/chats?limit=500")).chats.map((chat) => chat.jid);
const clerk = await api("POST", "/api/tokens", { name: "clerk", scopes: ["read", "send"], chats: everyChat });
const asClerk = { requestInit: { headers: { Authorization: `Bearer ${clerk.secret}` } } };
for (const [name, client, transport] of [
  ["2025-11-25", withSessions(), new StreamableHTTPClientTransport(address, asClerk)],
  ["2026-07-28", withoutSessions(), new SingleHTTP(address, asClerk)],
]) {
  await client.connect(transport);
  await client.listTools(); // so that the SDK checks answers against their schemas
  await solveAll(client, (asked, calls, outcome) => check(`${name}: ${asked} (${calls} calls)`, outcome === true && calls <= 4, outcome));
  await client.close();
}
await api("DELETE", `/api/tokens/${clerk.id}`);

const stranger = new Client({ name: "stranger", version: "1" });
let refused = false;
try {
  await stranger.connect(new StreamableHTTPClientTransport(new URL(BRIDGE + "/mcp"), { requestInit: { headers: { Authorization: "Bearer brt_WRONG" } } }));
} catch {
  refused = true;
}
check("a stranger is refused", refused);
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed ? 1 : 0);
