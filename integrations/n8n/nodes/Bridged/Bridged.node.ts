import { NodeApiError, NodeConnectionTypes, NodeOperationError, type IExecuteFunctions, type INodeExecutionData, type INodeType, type INodeTypeDescription } from "n8n-workflow";
import { CREDENTIAL } from "../../shared/api";
import { listSearch } from "../../shared/lookup";
import { describe } from "./describe";
import { resources } from "./operations";
import { perform } from "./perform";

export class Bridged implements INodeType {
  description: INodeTypeDescription = {
    displayName: "Bridged",
    name: "bridged",
    icon: { light: "file:../../icons/bridged.svg", dark: "file:../../icons/bridged.dark.svg" },
    group: ["output"],
    version: 1,
    subtitle: '={{$parameter["operation"] + ": " + $parameter["resource"]}}',
    description: "Send, read and find WhatsApp messages with a bridge of your own",
    defaults: { name: "Bridged" },
    usableAsTool: true,
    inputs: [NodeConnectionTypes.Main],
    outputs: [NodeConnectionTypes.Main],
    credentials: [{ name: CREDENTIAL, required: true }],
    properties: describe(resources),
  };

  methods = { listSearch };

  async execute(this: IExecuteFunctions): Promise<INodeExecutionData[][]> {
    const out: INodeExecutionData[] = [];
    const items = this.getInputData();
    for (let i = 0; i < items.length; i++) {
      try {
        const resource = this.getNodeParameter("resource", i) as string;
        const operation = this.getNodeParameter("operation", i) as string;
        const chosen = resources.find(({ value }) => value === resource)?.operations.find(({ value }) => value === operation);
        if (!chosen) throw new NodeOperationError(this.getNode(), `There is no operation "${operation}" of "${resource}"`, { itemIndex: i });
        out.push(...(await perform(this, chosen, i)));
      } catch (error) {
        const shown = error instanceof NodeApiError || error instanceof NodeOperationError ? error : new NodeOperationError(this.getNode(), error as Error, { itemIndex: i });
        if (!this.continueOnFail()) throw shown;
        out.push({ json: { error: shown.message }, error: shown, pairedItem: { item: i } });
      }
    }
    return [out];
  }
}
