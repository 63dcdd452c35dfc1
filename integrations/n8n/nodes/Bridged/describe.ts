// The parameters of the node, from the table of operations.
import type { INodeProperties, INodePropertyCollection, INodePropertyOptions } from "n8n-workflow";
import type { Field, Operation, Resource } from "./operation";

const shown = (resource: Resource, operations: Operation[]) => ({ show: { resource: [resource.value], operation: operations.map(({ value }) => value) } });

export function describe(resources: Resource[]): INodeProperties[] {
  const options: INodePropertyOptions[] = resources.map(({ name, value }) => ({ name, value }));
  const choice: INodeProperties = {
    displayName: "Resource",
    name: "resource",
    type: "options",
    noDataExpression: true,
    options,
    default: "message",
  };
  return [choice, ...resources.flatMap(ofResource)];
}

function ofResource(resource: Resource): INodeProperties[] {
  const { operations } = resource;
  const { value: initial } = operations.find(({ value }) => value === "sendText") ?? operations[0];
  const choice: INodeProperties = {
    displayName: "Operation",
    name: "operation",
    type: "options",
    noDataExpression: true,
    displayOptions: { show: { resource: [resource.value] } },
    options: operations.map(({ name, value, action, description }): INodePropertyOptions => ({ name, value, action, description: description ?? action })),
    default: initial,
  };
  return [
    choice,
    ...fieldsOf(operations).map(([field, having]) => ({ ...field.property, displayOptions: shown(resource, having) })),
    ...filesOf(operations).map((property) => ({ ...property, displayOptions: shown(resource, operations.filter(({ file }) => file && property.displayName === fileNames[file])) })),
    ...pagesOf(resource),
    ...operations.map((operation) => optionsOf(resource, operation)).filter((options) => options !== undefined),
  ];
}

// fieldsOf lists the fields of some operations, each with the operations that have it, as
// often as these have them in another order.
function fieldsOf(operations: Operation[]): Array<[Field, Operation[]]> {
  const having = new Map<Field["property"], [Field, Operation[]]>();
  for (const operation of operations) {
    for (const field of operation.fields ?? []) {
      const known = having.get(field.property);
      if (known) known[1].push(operation);
      else having.set(field.property, [field, [operation]]);
    }
  }
  return [...having.values()];
}

const fileNames = { up: "Input Binary Field", down: "Put Output File in Field" };

function filesOf(operations: Operation[]): INodeProperties[] {
  const up: INodeProperties = {
    displayName: "Input Binary Field",
    name: "binaryPropertyName",
    type: "string",
    default: "data",
    required: true,
    hint: "The name of the input field with the file",
  };
  const down: INodeProperties = {
    displayName: "Put Output File in Field",
    name: "binaryPropertyName",
    type: "string",
    default: "data",
    required: true,
    hint: "The name of the output field for the file",
  };
  return [up, down].filter(({ displayName }) => operations.some(({ file }) => file && fileNames[file] === displayName));
}

function pagesOf(resource: Resource): INodeProperties[] {
  const paged = resource.operations.filter(({ pages }) => pages);
  if (!paged.length) return [];
  const { show } = shown(resource, paged);
  return [
    {
      displayName: "Return All",
      name: "returnAll",
      type: "boolean",
      default: false,
      description: "Whether to return all results or only up to a given limit",
      displayOptions: { show },
    },
    {
      displayName: "Limit",
      name: "limit",
      type: "number",
      typeOptions: { minValue: 1 },
      default: 50,
      description: "Max number of results to return",
      displayOptions: { show: { ...show, returnAll: [false] } },
    },
  ];
}

// key lets a flow name what it does once.
const key: INodeProperties = {
  displayName: "Idempotency Key",
  name: "idempotencyKey",
  type: "string",
  default: "",
  placeholder: "order-4711",
  description: "What this node does once, for 24 hours, also when an execution is retried by hand. Without it the execution and the item count.",
};

function optionsOf(resource: Resource, operation: Operation): INodeProperties | undefined {
  const properties = (operation.options ?? []).map(({ property }) => property);
  if (operation.method) properties.push(key);
  if (!properties.length) return undefined;
  return {
    displayName: "Options",
    name: "options",
    type: "collection",
    placeholder: "Add Option",
    default: {},
    options: properties.sort((a, b) => a.displayName.localeCompare(b.displayName)) as unknown as Array<INodePropertyCollection>,
    displayOptions: shown(resource, [operation]),
  };
}
