import { chat, msgId, required, text } from "../fields";
import type { Field, Resource } from "../operation";

const label = required("Label ID", "labelId", "The label, as Get Many lists it");
const color: Field = { property: { displayName: "Color", name: "color", type: "number", default: 0, typeOptions: { minValue: 0, maxValue: 19 }, description: "The number of a color of the apps" } };
const onChat = "/api/chats/{jid}/labels/{labelId}";
const onMessage = "/api/chats/{jid}/messages/{msgId}/labels/{labelId}";

export const labelResource: Resource = {
  name: "Label",
  value: "label",
  operations: [
    { name: "Add to Chat", value: "addToChat", action: "Label a chat", method: "PUT", path: onChat, fields: [chat, label] },
    { name: "Add to Message", value: "addToMessage", action: "Label a message", method: "PUT", path: onMessage, fields: [chat, msgId, label] },
    {
      name: "Create",
      value: "create",
      action: "Create a label",
      description: "If there is a label with this name, it is the answer. Labels need WhatsApp Business on the phone.",
      method: "POST",
      path: "/api/labels",
      fields: [required("Name", "name", "The name of the label")],
      options: [color],
    },
    { name: "Delete", value: "delete", action: "Delete a label", method: "DELETE", path: "/api/labels/{labelId}", fields: [label] },
    { name: "Get Many", value: "getAll", action: "Get many labels", path: "/api/labels", list: "labels" },
    { name: "Remove From Chat", value: "removeFromChat", action: "Remove a label from a chat", method: "DELETE", path: onChat, fields: [chat, label] },
    { name: "Remove From Message", value: "removeFromMessage", action: "Remove a label from a message", method: "DELETE", path: onMessage, fields: [chat, msgId, label] },
    { name: "Update", value: "update", action: "Update a label", method: "PATCH", path: "/api/labels/{labelId}", fields: [label], options: [color, text("Name", "name", "The new name")] },
  ],
};
