// Rewrites an OpenAPI 3.0 document, as openapi-down-convert leaves it, for
// generators that know neither unions nor null as a type: openapi30.cjs in out
const fs = require("fs");
const yaml = require("js-yaml");

const [input, output] = process.argv.slice(2);
const document = yaml.load(fs.readFileSync(input, "utf8"));
delete document.info.summary;
const { schemas } = document.components;

const isNull = (schema) => schema.type === "null" || schema.enum?.every((value) => value === null);
const resolve = (schema) => (schema.$ref ? schemas[schema.$ref.split("/").pop()] : schema);

// merged returns one object with the fields of every alternative. It requires the
// fields that all of them require.
function merged({ discriminator, oneOf, ...rest }) {
  const alternatives = oneOf.map(resolve);
  const properties = {};
  for (const alternative of alternatives) {
    for (const [name, property] of Object.entries(alternative.properties)) {
      const before = properties[name];
      const values = before?.enum && property.enum && [...new Set([...before.enum, ...property.enum])];
      properties[name] = values ? { ...before, enum: values } : before ?? property;
    }
  }
  const required = Object.keys(properties).filter((name) => alternatives.every((a) => a.required?.includes(name)));
  return { ...rest, type: "object", properties, ...(required.length && { required }) };
}

// rewrite returns a schema, or any other part of the document, without nulls and
// unions of objects.
function rewrite(part) {
  if (Array.isArray(part)) return part.map(rewrite);
  if (part === null || typeof part !== "object") return part;
  let out = part;
  if (Array.isArray(out.oneOf)) {
    const { oneOf, ...rest } = out;
    const left = oneOf.filter((alternative) => !isNull(alternative));
    if (left.length < oneOf.length) out = left.length > 1 ? { ...rest, nullable: true, oneOf: left } : { ...rest, nullable: true, allOf: left };
    if (left.length > 1 && left.every((alternative) => resolve(alternative).properties)) out = merged(out);
  }
  if (out.type === "null") out = { ...out, type: "string", nullable: true };
  if (Array.isArray(out.enum)) {
    // A single value that is not a string would become a name unknown
    // to Python.
    const { enum: values, ...rest } = out;
    out = out.type === "boolean" ? rest : { ...rest, enum: values.filter((value) => value !== null) };
  }
  return Object.fromEntries(Object.entries(out).map(([name, value]) => [name, rewrite(value)]));
}

fs.writeFileSync(output, JSON.stringify(rewrite(document)));
