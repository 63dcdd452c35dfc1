// Uses the generated types, alone and with openapi-fetch.
import createClient from "openapi-fetch";
import type { components, operations, paths, webhooks } from "./bridged";

type Event = components["schemas"]["Event"];
type Media = components["schemas"]["Media"];
type SendText = operations["sendText"]["requestBody"]["content"]["application/json"];
type Created = webhooks["message.created"]["post"]["requestBody"]["content"]["application/json"];

export function about(event: Event): string {
  switch (event.type) {
    case "message.created":
    case "message.updated":
    case "message.status":
      return event.message.content;
    case "message.scheduled":
      return event.scheduled.msgId;
    case "chat.updated":
      return event.chat.name;
    case "group.updated":
      return event.group.topic;
    case "label.updated":
      return event.label.name;
    case "call.created":
    case "call.updated":
      return event.call.state;
    case "account.status":
      return event.status.lastError ?? event.status.status;
    case "backup.failed":
      return event.backup.error;
  }
}

export function seconds(media: Media): number {
  return media.type === "audio" || media.type === "video" ? media.durationSec : 0;
}

export function answer(posted: Created): SendText {
  return { jid: posted.data.chatJid, text: "Thank you", quotedMsgId: posted.data.message.msgId };
}

export async function send(text: SendText): Promise<components["schemas"]["Sent"]> {
  const response = await fetch("/api/messages/send", { method: "POST", body: JSON.stringify(text) });
  if (!response.ok) {
    const failure: components["schemas"]["Error"] = await response.json();
    throw new Error(`${failure.code}: ${failure.error}`);
  }
  return response.json();
}

// Events come as a page or as a stream: a client of JSON gets the page.
const client = createClient<paths, "application/json">({ baseUrl: "http://127.0.0.1:8080" });

export async function waitForMessages(after: string): Promise<{ ids: number[]; next: string }> {
  const query = { after, types: "message.created", wait: "60s" };
  const { data, error } = await client.GET("/api/events", { params: { query } });
  if (error) throw new Error(`${error.code}: ${error.error}`);
  return { ids: data.events.map((event) => event.id), next: data.nextCursor };
}

export async function expireAfterAWeek(jid: string): Promise<string[]> {
  const body = { disappearingSeconds: 604800 } as const;
  const { data, error } = await client.PATCH("/api/groups/{jid}", { params: { path: { jid } }, body });
  if (error) throw new Error(`${error.code}: ${error.error}`);
  return data.changed;
}
