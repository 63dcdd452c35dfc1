// Starts the simulated network and runs the checks on it in a process that
// trusts its certificate: Node reads NODE_EXTRA_CA_CERTS only when it starts.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";

const work = process.argv[2];
const network = spawn(join(work, "network"), { stdio: ["pipe", "pipe", "inherit"] });
const [line] = await once(createInterface(network.stdout), "line");
const { control, network: description } = JSON.parse(line);

const authority = join(work, "ca.pem");
await writeFile(authority, description.caCertificate);
await writeFile(join(work, "network.json"), JSON.stringify(description));

const checks = spawn(process.execPath, [join(work, "checks.mjs"), work, control], {
  stdio: "inherit",
  env: { ...process.env, NODE_EXTRA_CA_CERTS: authority },
});
const [code] = await once(checks, "exit");
network.stdin.end();
await once(network, "exit");
process.exitCode = code ?? 1;
