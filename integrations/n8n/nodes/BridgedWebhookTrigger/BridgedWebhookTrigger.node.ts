import {
  NodeApiError,
  NodeConnectionTypes,
  type IDataObject,
  type IHookFunctions,
  type INodeType,
  type INodeTypeDescription,
  type IWebhookFunctions,
  type IWebhookResponseData,
  type JsonObject,
} from "n8n-workflow";
import { answerOf, ask, CREDENTIAL, failure } from "../../shared/api";
import { filterOf, filterProperties } from "../../shared/filter";
import { chatOptions } from "../../shared/lookup";
import { faultOf } from "../../shared/signature";

// State is what n8n keeps for the node.
interface State extends IDataObject {
  webhookId?: number;
  secret?: string;
  // wanted is what the webhook was made with, as JSON.
  wanted?: string;
}

interface Webhook {
  id: number;
  enabled: boolean;
  secret: string;
}

// taken has the ids of each node's latest posts, while n8n runs: what a node keeps for
// longer, n8n does not save when a post starts an execution.
const taken = new Map<string, string[]>();
const remembered = 500;

export class BridgedWebhookTrigger implements INodeType {
  description: INodeTypeDescription = {
    displayName: "Bridged Webhook Trigger",
    name: "bridgedWebhookTrigger",
    icon: { light: "file:../../icons/bridged.svg", dark: "file:../../icons/bridged.dark.svg" },
    group: ["trigger"],
    version: 1,
    subtitle: '={{$parameter["types"].join(", ")}}',
    description: "Start when a bridge posts a WhatsApp message or another event, signed, to n8n",
    defaults: { name: "Bridged Webhook Trigger" },
    inputs: [],
    outputs: [NodeConnectionTypes.Main],
    credentials: [{ name: CREDENTIAL, required: true }],
    webhooks: [{ name: "default", httpMethod: "POST", responseMode: "onReceived", path: "webhook" }],
    properties: [
      {
        displayName: "The token needs the scopes <code>read</code> and <code>manage</code>, and the bridge must reach n8n. Where it cannot, use the Bridged Trigger, which reads the log.",
        name: "notice",
        type: "notice",
        default: "",
      },
      ...filterProperties,
      {
        displayName: "N8n Has a Private Address",
        name: "allowPrivate",
        type: "boolean",
        default: false,
        description: "Whether the bridge may post to a private address, which must lie within its WEBHOOK_ALLOW_PRIVATE",
      },
    ],
  };

  methods = { loadOptions: { getChats: chatOptions } };

  webhookMethods = {
    default: {
      async checkExists(this: IHookFunctions): Promise<boolean> {
        const state = this.getWorkflowStaticData("node") as State;
        if (!state.webhookId) return false;
        const { answer, refusal } = await ask(this, { path: `/api/webhooks/${state.webhookId}` });
        if (refusal?.status === 404) return false;
        if (refusal) throw failure(this.getNode(), refusal);
        const { enabled } = answer.body as unknown as Webhook;
        if (enabled && state.wanted === wanted(this)) return true;
        await remove(this, state);
        return false;
      },

      async create(this: IHookFunctions): Promise<boolean> {
        const state = this.getWorkflowStaticData("node") as State;
        const made = wanted(this);
        const { id, secret } = await answerOf<Webhook>(this, { method: "POST", path: "/api/webhooks", body: JSON.parse(made) as IDataObject });
        Object.assign(state, { webhookId: id, secret, wanted: made });
        return true;
      },

      async delete(this: IHookFunctions): Promise<boolean> {
        const state = this.getWorkflowStaticData("node") as State;
        if (state.webhookId) await remove(this, state);
        return true;
      },
    },
  };

  async webhook(this: IWebhookFunctions): Promise<IWebhookResponseData> {
    const state = this.getWorkflowStaticData("node") as State;
    const request = this.getRequestObject();
    const response = this.getResponseObject();
    const headers = this.getHeaderData();
    const refuse = (status: number, error: string): IWebhookResponseData => {
      response.status(status).json({ error });
      return { noWebhookResponse: true };
    };
    if (!state.secret) return refuse(503, "The workflow has no webhook: activate it again");
    await request.readRawBody();
    const fault = faultOf(state.secret, headers, request.rawBody);
    if (fault) return refuse(401, fault);

    const id = String(headers["webhook-id"]);
    const { type, data } = this.getBodyData() as { type: string; data: IDataObject };
    const node = `${this.getWorkflow().id}:${this.getNode().id}`;
    if (type === "webhook.test" || taken.get(node)?.includes(id)) return { webhookResponse: { ok: true, started: false } };
    // n8n answers once it has recorded the execution. If it cannot, the post comes again.
    response.once("finish", () => response.statusCode < 300 && taken.set(node, [...(taken.get(node) ?? []), id].slice(-remembered)));
    return { workflowData: [[{ json: { type, ...data, webhookId: id } }]] };
  }
}

// wanted is the webhook that the parameters ask for, as JSON.
function wanted(context: IHookFunctions): string {
  const { types, chats, chatType, fromMe } = filterOf((name) => context.getNodeParameter(name));
  const allowPrivate = context.getNodeParameter("allowPrivate") as boolean;
  return JSON.stringify({ url: context.getNodeWebhookUrl("default"), types, chats, chatType, fromMe: fromMe ?? null, allowPrivate });
}

// remove deletes the webhook, which may be gone.
async function remove(context: IHookFunctions, state: State): Promise<void> {
  const { refusal } = await ask(context, { method: "DELETE", path: `/api/webhooks/${state.webhookId}` });
  if (refusal && refusal.status !== 404) throw new NodeApiError(context.getNode(), { ...refusal } as JsonObject, { message: refusal.error });
  delete state.webhookId;
  delete state.secret;
  delete state.wanted;
}
