import type { ICredentialDataDecryptedObject, ICredentialTestRequest, ICredentialType, IHttpRequestOptions, INodeProperties } from "n8n-workflow";

// BridgedApi is a bridge's address and a token of it. The test asks for the token itself,
// which needs no scope.
export class BridgedApi implements ICredentialType {
  name = "bridgedApi";

  displayName = "Bridged API";

  icon = { light: "file:../icons/bridged.svg", dark: "file:../icons/bridged.dark.svg" } as const;

  documentationUrl = "https://www.npmjs.com/package/n8n-nodes-bridged";

  properties: INodeProperties[] = [
    {
      displayName: "Base URL",
      name: "baseUrl",
      type: "string",
      default: "http://127.0.0.1:8080",
      placeholder: "http://bridged:8080",
      description: "The bridge's address as n8n reaches it, without /api",
      required: true,
    },
    {
      displayName: "Token",
      name: "token",
      type: "string",
      typeOptions: { password: true },
      default: "",
      description: "Made with <code>bridged token create n8n --scopes read,send</code>. The webhook trigger needs <code>manage</code>, too.",
      required: true,
    },
  ];

  // A function, not an expression, which n8n evaluates in executions only: the trigger asks
  // between them.
  authenticate = async (credentials: ICredentialDataDecryptedObject, options: IHttpRequestOptions): Promise<IHttpRequestOptions> => ({
    ...options,
    headers: { ...options.headers, Authorization: `Bearer ${String(credentials.token)}` },
  });

  test: ICredentialTestRequest = {
    request: { baseURL: '={{$credentials.baseUrl.replace(/\\/+$/, "")}}', url: "/api/token" },
    rules: [
      { type: "responseCode", properties: { value: 401, message: "The bridge does not accept this token: it is wrong, has ended or was revoked." } },
      { type: "responseCode", properties: { value: 404, message: "There is no bridge at this address. Give the bridge's own address, without /api." } },
      {
        type: "responseSuccessBody",
        properties: { key: "scopes", value: undefined, message: "There is no bridge at this address, although it answers." },
      },
    ] as ICredentialTestRequest["rules"],
  };
}
