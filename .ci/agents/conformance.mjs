// Runs the scenarios for authorization servers of the protocol's conformance suite: conformance.mjs
// SUITE PORT. The suite listens on PORT for the answer, and asks a person to follow a link.
import { spawn } from "node:child_process";
import { Owner } from "./owner.mjs";

const { BRIDGE, BRIDGE_TOKEN } = process.env;
const [suite, port] = process.argv.slice(2);

async function json(path, options) {
  return (await fetch(BRIDGE + path, options)).json();
}

const registration = { client_name: "Conformance", redirect_uris: [`http://127.0.0.1:${port}/callback`] };
const { client_id: client } = await json("/oauth/register", { method: "POST", body: JSON.stringify(registration) });
const { chats } = await json("/api/chats?limit=1", { headers: { Authorization: `Bearer ${BRIDGE_TOKEN}` } });
const run = spawn(process.execPath, [suite, "authorization", "--url", BRIDGE, "--client-id", client, "--resource", `${BRIDGE}/mcp`, "-p", port]);
let said = "";
let isFollowed = false;
run.stderr.pipe(process.stderr);
run.stdout.on("data", async (data) => {
  process.stdout.write(data);
  said += data;
  const link = said.match(/http:\S+\/console\/authorize\?\S+(?=\s[^]*Callback server started)/);
  if (!link || isFollowed) return;
  isFollowed = true;
  await fetch(await new Owner(BRIDGE_TOKEN).consents(link[0], { rights: "read", chats: [chats[0].jid] }));
});
run.on("close", (code) => process.exit(code ?? 1));
