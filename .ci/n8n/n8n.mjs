// A running n8n, and its REST API as its editor uses it.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createWriteStream } from "node:fs";
import { join } from "node:path";
import { freeAddress } from "./demo.mjs";

export class N8n {
  #cookie = "";

  constructor(work, program) {
    this.work = work;
    this.program = program;
  }

  // start runs n8n in a directory of its own, with nothing that asks others, and makes its
  // owner.
  async start() {
    const [host, port] = (await freeAddress()).split(":");
    const [, broker] = (await freeAddress()).split(":");
    this.address = `http://${host}:${port}`;
    this.env = {
      PATH: process.env.PATH, HOME: this.work, N8N_USER_FOLDER: join(this.work, "home"), N8N_ENCRYPTION_KEY: "only-for-these-workflows",
      N8N_LISTEN_ADDRESS: host, N8N_HOST: host, N8N_PORT: port, N8N_RUNNERS_BROKER_PORT: broker, N8N_SECURE_COOKIE: "false",
      N8N_DIAGNOSTICS_ENABLED: "false", N8N_VERSION_NOTIFICATIONS_ENABLED: "false", N8N_TEMPLATES_ENABLED: "false",
      N8N_PERSONALIZATION_ENABLED: "false", N8N_DISABLED_MODULES: "insights,mcp-registry",
    };
    await this.resume();
    await this.call("POST", "/rest/owner/setup", { email: "owner@example.com", firstName: "Olga", lastName: "Owner", password: "Only-for-these-workflows-1" });
  }

  // resume runs n8n where it was, also after kill.
  async resume() {
    this.process = spawn(process.execPath, [this.program, "start"], { stdio: ["ignore", "pipe", "pipe"], env: this.env });
    this.ended = once(this.process, "exit");
    const { process: child } = this;
    process.once("exit", () => child.kill("SIGKILL")); // even after something has thrown
    await this.#listening(createWriteStream(join(this.work, "n8n.log"), { flags: "a" }));
  }

  // kill ends n8n as a power cut does.
  async kill() {
    this.process.kill("SIGKILL");
    await this.ended;
  }

  // #listening waits until n8n says that it can be used.
  #listening(log) {
    return new Promise((resolve, reject) => {
      let printed = "";
      this.process.once("exit", (code) => reject(new Error(`n8n ended with ${code}\n${printed}`)));
      const collect = (chunk) => {
        log.write(chunk);
        if (process.env.VERBOSE) process.stderr.write(chunk);
        printed = (printed + chunk).slice(-100_000);
        if (printed.includes("Editor is now accessible")) resolve();
      };
      this.process.stdout.on("data", collect);
      this.process.stderr.on("data", collect);
    });
  }

  async stop() {
    this.process.kill("SIGTERM");
    await this.ended;
  }

  async call(method, path, body) {
    const answer = await fetch(this.address + path, {
      method, headers: { "Content-Type": "application/json", Cookie: this.#cookie }, body: body && JSON.stringify(body),
    });
    const cookie = answer.headers.get("set-cookie");
    if (cookie) this.#cookie = cookie.split(";")[0];
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`);
    return JSON.parse(text).data;
  }

  // credential makes a credential, and returns how nodes name it.
  async credential(type, data) {
    const { id, name } = await this.call("POST", "/rest/credentials", { name: type, type, data });
    return { [type]: { id, name } };
  }

  // test returns what a credential's own test says, and in which words.
  tested = (type, data) => this.call("POST", "/rest/credentials/test", { credentials: { id: "", name: type, type, data } });
  test = async (type, data) => (await this.tested(type, data)).status;

  // publish makes a workflow of a Webhook node and those that follow, one after another.
  // Nodes that others use, such as an agent's tools, come with these connections.
  async publish(path, nodes, answers = true, used = { nodes: [], connections: {} }) {
    const webhook = {
      name: "Webhook", type: "n8n-nodes-base.webhook", typeVersion: 2, webhookId: path,
      parameters: { httpMethod: "POST", path, ...(answers ? { responseMode: "lastNode", responseData: "allEntries" } : {}) },
    };
    return { ...(await this.activate(path, [webhook, ...nodes], used)), url: `${this.address}/webhook/${path}` };
  }

  // activate makes a workflow of nodes, one after another, and starts it.
  async activate(name, nodes, used = { nodes: [], connections: {} }) {
    const all = [...nodes, ...used.nodes].map((node, i) => ({ id: `${name}-${i}`, position: [200 * i, 0], ...node }));
    const connections = Object.fromEntries(nodes.slice(1).map((node, i) => [nodes[i].name, { main: [[{ node: node.name, type: "main", index: 0 }]] }]));
    const settings = { executionOrder: "v1" };
    const { id, versionId } = await this.call("POST", "/rest/workflows", { name, nodes: all, connections: { ...connections, ...used.connections }, settings });
    await this.call("POST", `/rest/workflows/${id}/activate`, { versionId });
    return { id };
  }

  // kept waits for what a workflow keeps for a node, which it begins with when n8n has
  // activated it: after it has answered that it did.
  async kept({ id }, node) {
    for (;;) {
      const { staticData } = await this.call("GET", `/rest/workflows/${id}`);
      const found = staticData?.[`node:${node}`];
      if (found) return found;
      await pause();
    }
  }

  deactivate = ({ id }) => this.call("POST", `/rest/workflows/${id}/deactivate`, {});

  // executions returns all executions of a workflow, the latest first.
  async executions({ id }) {
    const filter = encodeURIComponent(JSON.stringify({ workflowId: id }));
    return (await this.call("GET", `/rest/executions?limit=100&filter=${filter}`)).results;
  }

  // run runs a published workflow, and returns the items that its last node put out.
  async run({ url }, body = {}) {
    const { status, content } = await this.#post(url, body);
    if (status !== 200) throw new Error(`${url}: ${status} ${JSON.stringify(content)}`);
    return content;
  }

  // fails runs a workflow that fails, and returns what n8n has recorded of it.
  async fails({ id, url }, body = {}) {
    const { status } = await this.#post(url, body);
    if (status !== 500) throw new Error(`${url}: ${status}, and no failure`);
    const filter = encodeURIComponent(JSON.stringify({ workflowId: id, status: ["error"] }));
    for (;;) {
      const { results } = await this.call("GET", `/rest/executions?filter=${filter}`);
      if (results.length) return (await this.call("GET", `/rest/executions/${results[0].id}`)).data;
      await pause();
    }
  }

  // #post posts to a webhook, which n8n opens a moment after it has said that it did.
  async #post(url, body) {
    for (;;) {
      const answer = await fetch(url, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) });
      const content = await answer.json();
      if (!content.message?.includes("is not registered")) return { status: answer.status, content };
      await pause();
    }
  }
}

const pause = () => new Promise((resolve) => setTimeout(resolve, 100));
