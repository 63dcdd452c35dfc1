import type { Resource } from "../operation";

export const accountResource: Resource = {
  name: "Account",
  value: "account",
  operations: [
    { name: "Get Status", value: "getStatus", action: "Get the status of the account", path: "/api/auth/status" },
    { name: "Get Statistics", value: "getStats", action: "Get statistics of the account", path: "/api/stats" },
    { name: "Get Token", value: "getToken", action: "Get what the token may do", path: "/api/token" },
    { name: "Get Webhooks", value: "getWebhooks", action: "Get the webhooks of the account", path: "/api/webhooks", list: "webhooks" },
  ],
};
