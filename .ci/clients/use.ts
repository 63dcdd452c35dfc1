// Uses the generated types.
import type { components, operations, webhooks } from "./bridged";

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
    case "chat.updated":
      return event.chat.name;
    case "group.updated":
      return event.group.topic;
    case "call.created":
    case "call.updated":
      return event.call.state;
    case "account.status":
      return event.status.lastError ?? event.status.status;
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
