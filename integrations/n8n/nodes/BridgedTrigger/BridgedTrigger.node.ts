import { NodeConnectionTypes, NodeOperationError, type INodeType, type INodeTypeDescription, type ITriggerFunctions, type ITriggerResponse } from "n8n-workflow";
import { CREDENTIAL } from "../../shared/api";
import { filterOf, filterProperties } from "../../shared/filter";
import { chatOptions } from "../../shared/lookup";
import { Follower, type Settings, type State } from "./follow";

export class BridgedTrigger implements INodeType {
  description: INodeTypeDescription = {
    displayName: "Bridged Trigger",
    name: "bridgedTrigger",
    icon: { light: "file:../../icons/bridged.svg", dark: "file:../../icons/bridged.dark.svg" },
    group: ["trigger"],
    version: 1,
    subtitle: '={{$parameter["types"].join(", ")}}',
    description: "Start for each WhatsApp message and other event in the log of a bridge. Nothing is missed while n8n is down.",
    defaults: { name: "Bridged Trigger" },
    inputs: [],
    outputs: [NodeConnectionTypes.Main],
    credentials: [{ name: CREDENTIAL, required: true }],
    properties: [
      ...filterProperties,
      {
        displayName: "Options",
        name: "options",
        type: "collection",
        placeholder: "Add Option",
        default: {},
        options: [
          {
            displayName: "Begin With",
            name: "begin",
            type: "options",
            options: [
              { name: "New Events", value: "now" },
              { name: "The Whole Log", value: "0", description: "What the bridge has kept, for 30 days by default" },
            ],
            default: "now",
            description: "Where to begin when the workflow is activated for the first time. Later it goes on where it was.",
          },
          {
            displayName: "Download Files to Field",
            name: "download",
            type: "string",
            default: "data",
            description: "The name of the output field for a message's file. A file that cannot be had is told as <code>fileError</code>.",
          },
          {
            displayName: "Executions at a Time",
            name: "parallel",
            type: "number",
            typeOptions: { minValue: 1, maxValue: 100 },
            default: 5,
            description: "How many executions may run at the same time. Those of one chat run one after another.",
          },
          {
            displayName: "Hand Over Again After a Restart",
            name: "again",
            type: "boolean",
            default: true,
            description: "Whether the last events are handed to n8n again, which starts those only that it has not recorded. Turn this off where n8n does not save executions.",
          },
          {
            displayName: "If the Log Has a Gap",
            name: "gap",
            type: "options",
            options: [
              { name: "Record a Failed Execution", value: "error", description: "It starts the error workflow" },
              { name: "Start With an Item of Type Reset", value: "item" },
            ],
            default: "error",
            description: "What to do where events have left the log before n8n read them",
          },
          {
            displayName: "Skip What Happened While Inactive",
            name: "skip",
            type: "boolean",
            default: true,
            description: "Whether to begin with new events whenever the workflow is activated. A restart of n8n skips nothing.",
          },
        ],
      },
    ],
  };

  methods = { loadOptions: { getChats: chatOptions } };

  async trigger(this: ITriggerFunctions): Promise<ITriggerResponse> {
    const options = this.getNodeParameter("options", {}) as Partial<Settings> & { begin?: string; skip?: boolean };
    const { saveDataSuccessExecution, saveDataErrorExecution } = this.getWorkflowSettings();
    const recorded = saveDataSuccessExecution !== "none" && saveDataErrorExecution !== "none";
    const settings: Settings = {
      ...filterOf((name) => this.getNodeParameter(name)),
      parallel: options.parallel ?? 5,
      download: options.download || undefined,
      again: options.again ?? recorded,
      gap: options.gap ?? "error",
    };
    const closing = new AbortController();
    const closeFunction = async () => closing.abort();
    if (this.getMode() === "manual") {
      const follower = new Follower(this, settings, {}, closing.signal);
      return {
        closeFunction,
        manualTriggerFunction: async () => {
          void follower.first().then((item) => item && this.emit([[item]]), (error: Error) => this.emitError(error));
        },
      };
    }

    const state = this.getWorkflowStaticData("node") as State;
    const follower = new Follower(this, settings, state, closing.signal);
    if (options.skip && this.getActivationMode() === "activate") state.after = undefined;
    state.after ??= options.begin === "0" ? "0" : await follower.end();
    void follower.run().catch((error: Error) => this.emitError(new NodeOperationError(this.getNode(), error)));
    return { closeFunction };
  }
}
