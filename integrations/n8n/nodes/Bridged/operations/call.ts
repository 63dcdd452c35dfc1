import { required, text, time } from "../fields";
import type { Resource } from "../operation";

export const callResource: Resource = {
  name: "Call",
  value: "call",
  operations: [
    {
      name: "Get Many",
      value: "getAll",
      action: "Get many calls",
      path: "/api/calls",
      options: [text("Chat JID", "chat", "Only the calls of this chat"), time("Since", "since", "The earliest time")],
      list: "calls",
      pages: 500,
    },
    { name: "Reject", value: "reject", action: "Reject a ringing call", method: "POST", path: "/api/calls/{id}/reject", fields: [required("Call ID", "id", "The call's <code>id</code>")] },
  ],
};
