import { choice, text } from "../fields";
import type { Resource } from "../operation";

const who = { all: "Everybody", contacts: "Contacts", none: "Nobody" };

export const accountResource: Resource = {
  name: "Account",
  value: "account",
  operations: [
    { name: "Get Privacy", value: "getPrivacy", action: "Get the privacy settings of the account", path: "/api/account/privacy" },
    { name: "Get Statistics", value: "getStats", action: "Get statistics of the account", path: "/api/stats" },
    { name: "Get Status", value: "getStatus", action: "Get the status of the account", path: "/api/auth/status" },
    { name: "Get Token", value: "getToken", action: "Get what the token may do", path: "/api/token" },
    { name: "Get Webhooks", value: "getWebhooks", action: "Get the webhooks of the account", path: "/api/webhooks", list: "webhooks" },
    { name: "Remove Picture", value: "removePicture", action: "Remove the picture of the account", method: "DELETE", path: "/api/account/picture" },
    {
      name: "Set Picture",
      value: "setPicture",
      action: "Set the picture of the account",
      description: "The middle of a JPEG, PNG, WebP, GIF or BMP becomes a square",
      method: "PUT",
      path: "/api/account/picture",
      file: "up",
    },
    {
      name: "Update",
      value: "update",
      action: "Update the account",
      description: "Change the name and the about text that others see",
      method: "PATCH",
      path: "/api/account",
      options: [text("About", "about", "The about text; empty removes it"), text("Name", "name", "The name, of at most 25 characters")],
    },
    {
      name: "Update Privacy",
      value: "updatePrivacy",
      action: "Update the privacy settings of the account",
      method: "PATCH",
      path: "/api/account/privacy",
      options: [
        choice("About", "about", "Who sees the about text", who),
        choice("Calls", "callAdd", "Who may call the account", { all: "Everybody", known: "Known People" }),
        choice("Groups", "groupAdd", "Who may add the account to groups", who),
        choice("Last Seen", "lastSeen", "Who sees when the account was last online", who),
        choice("Messages", "messages", "Who may write first", { all: "Everybody", contacts: "Contacts" }),
        choice("Online", "online", "Who sees that the account is online", { all: "Everybody", match_last_seen: "Same as Last Seen" }),
        choice("Picture", "picture", "Who sees the picture", who),
        choice("Protection From Strangers", "defense", "Whether to protect the account from messages of strangers", { off: "Off", on_standard: "On" }),
        choice("Read Receipts", "readReceipts", "Whether read receipts are exchanged", { all: "Yes", none: "No" }),
        choice("Stickers", "stickers", "Whose stickers are shown without a question", { contacts: "Contacts", none: "Nobody" }),
      ],
    },
  ],
};
