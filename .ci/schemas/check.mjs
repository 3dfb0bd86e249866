// Checks recorded exchanges with GitHub: GraphQL documents and answers against GitHub's GraphQL schema, REST requests and
// answers against its OpenAPI description. Usage: node check.mjs EXCHANGES, one JSON object per line, as
// tests/client/exchanges.rs writes them. Prints each distinct problem, and fails if there is one.

import Ajv from "ajv";
import addFormats from "ajv-formats";
import {
  buildSchema,
  getNamedType,
  getVariableValues,
  isAbstractType,
  isLeafType,
  isListType,
  isNonNullType,
  parse,
  validate,
} from "graphql";
import { readFileSync } from "node:fs";

const read = (file) => readFileSync(file, "utf8");
const packageFile = (file) => read(new URL(`node_modules/@octokit/${file}`, import.meta.url));
// GitHub's schema defines two fields twice, which is no reason to reject all of it.
const schema = buildSchema(packageFile("graphql-schema/schema.graphql"), { assumeValidSDL: true });
const openapi = JSON.parse(packageFile("openapi/generated/api.github.com.json"));
// The description uses formats that are no part of JSON Schema, which the logger would report.
const ajv = addFormats(new Ajv({ strict: false, allErrors: true, logger: false }));
ajv.addSchema(openapi, "openapi");

// The schema names these scalars, but doesn't define their values.
const scalarPatterns = {
  DateTime: /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/,
  GitObjectID: /^[0-9a-f]{40}$/,
  URI: /^https?:\/\/[^\s/]+/,
};
for (const [name, pattern] of Object.entries(scalarPatterns)) {
  schema.getType(name).parseValue = (value) => {
    if (typeof value === "string" && pattern.test(value)) return value;
    throw new Error(`${name} cannot represent ${JSON.stringify(value)}`);
  };
}

const problems = new Map();
const report = (where, what) => problems.set(`${where}: ${what}`, (problems.get(`${where}: ${what}`) ?? 0) + 1);

// Returns the fields that a selection asks for of a value of this type, with fragments spread.
function selectedFields(selections, type, fragments) {
  return selections.flatMap((node) => {
    if (node.kind === "Field") return [node];
    const fragment = node.kind === "FragmentSpread" ? fragments.get(node.name.value) : node;
    const condition = fragment.typeCondition ? schema.getType(fragment.typeCondition.name.value) : type;
    const applies = condition === type || (isAbstractType(condition) && schema.isSubType(condition, type));
    return applies ? selectedFields(fragment.selectionSet.selections, type, fragments) : [];
  });
}

// Returns the object type of a value: the one in the value or, without it, the possible type that shares most fields
// with the value.
function objectType(value, type, selections, fragments) {
  if (!isAbstractType(type)) return type;
  const possible = schema.getPossibleTypes(type);
  if (value.__typename) return possible.find((candidate) => candidate.name === value.__typename);
  const shared = (candidate) =>
    selectedFields(selections, candidate, fragments).filter((node) => (node.alias ?? node.name).value in value).length;
  return possible.reduce((best, candidate) => (shared(candidate) > shared(best) ? candidate : best));
}

function checkValue(value, type, node, fragments, where) {
  if (isNonNullType(type)) {
    if (value === null) return report(where, `null for ${type}`);
    type = type.ofType;
  }
  if (value === null) return;
  if (isListType(type)) {
    if (!Array.isArray(value)) return report(where, `not a list for ${type}`);
    return value.forEach((item) => checkValue(item, type.ofType, node, fragments, `${where}[]`));
  }
  if (isLeafType(type)) {
    try {
      return void type.parseValue(value);
    } catch (error) {
      return report(where, error.message);
    }
  }
  if (typeof value !== "object" || Array.isArray(value)) return report(where, `not an object for ${type}`);
  checkObject(value, type, node.selectionSet.selections, fragments, where);
}

// Every requested field has to be there: those that an error prevents are null.
function checkObject(value, declared, selections, fragments, where) {
  const type = objectType(value, declared, selections, fragments);
  if (!type) return report(where, `${value.__typename} for ${declared}`);
  const known = new Set();
  for (const node of selectedFields(selections, type, fragments)) {
    const key = (node.alias ?? node.name).value;
    const name = node.name.value;
    known.add(key);
    if (value[key] === undefined) report(`${type}.${name}`, "missing");
    else if (name !== "__typename") checkValue(value[key], type.getFields()[name].type, node, fragments, `${type}.${name}`);
  }
  for (const key of Object.keys(value)) if (!known.has(key)) report(`${where}.${key}`, "was not asked for");
}

function checkGraphql({ request, answer, status }) {
  const document = parse(request.query);
  const operation = document.definitions.find((definition) => definition.kind === "OperationDefinition");
  const declared = operation.variableDefinitions.map((definition) => definition.variable.name.value);
  const given = request.variables ?? {};
  const wrong = validate(schema, document);
  if (wrong.length === 0) wrong.push(...(getVariableValues(schema, operation.variableDefinitions, given).errors ?? []));
  for (const error of wrong) report("query", error.message);
  for (const name of Object.keys(given)) if (!declared.includes(name)) report("query", `undeclared variable ${name}`);
  if (wrong.length > 0 || !answer) return;
  if (status !== 200) return answer.message ? undefined : report(`graphql ${status}`, "no message");
  if (answer.errors?.some((error) => typeof error.message !== "string")) report("errors", "an error without a message");
  if (answer.data === undefined && !answer.errors) report("answer", "neither data nor errors");
  if (!answer.data) return;
  const fragments = new Map(document.definitions.filter((d) => d.kind === "FragmentDefinition").map((d) => [d.name.value, d]));
  const root = operation.operation === "mutation" ? schema.getMutationType() : schema.getQueryType();
  checkObject(answer.data, root, operation.selectionSet.selections, fragments, operation.operation);
}

const pathPatterns = Object.keys(openapi.paths).map((path) => [
  path,
  new RegExp(`^${path.replace(/[.*+?^$()|[\]\\]/g, "\\$&").replace(/\{[^}]+\}/g, "[^/]+")}$`),
]);

const resolved = (value) =>
  value.$ref ? value.$ref.slice(2).split("/").reduce((at, key) => at[key.replace(/~1/g, "/").replace(/~0/g, "~")], openapi) : value;
const escaped = (key) => key.replace(/~/g, "~0").replace(/\//g, "~1");

function validateJson(pointer, value, where) {
  const check = ajv.getSchema(`openapi#${pointer}`) ?? ajv.compile({ $ref: `openapi#${pointer}` });
  if (!check(value)) for (const { instancePath, message } of check.errors) report(where, `${instancePath.replace(/\/\d+/g, "[]") || "body"} ${message}`);
}

function checkRest({ method, path, query, request, answer, status }) {
  const rest = path.replace(/^.*\/api\/v3/, "");
  const template = pathPatterns.find(([, pattern]) => pattern.test(rest))?.[0];
  const operation = template && openapi.paths[template][method.toLowerCase()];
  const where = `${method} ${template ?? rest}`;
  if (!operation) return report(where, "GitHub has no such operation");
  const parameters = (operation.parameters ?? []).map(resolved).filter((parameter) => parameter.in === "query");
  for (const [name, value] of new URLSearchParams(query ?? "")) {
    const parameter = parameters.find((known) => known.name === name);
    if (!parameter) report(where, `${name} is no parameter`);
    else if (parameter.schema.type === "integer" && !/^\d+$/.test(value)) report(where, `${name} is no number`);
  }
  const base = `/paths/${escaped(template)}/${method.toLowerCase()}`;
  if (request) {
    validateJson(`${base}/requestBody/content/application~1json/schema`, request, `${where} request`);
    const properties = operation.requestBody.content["application/json"].schema.properties;
    for (const key of Object.keys(request)) if (!properties[key]) report(`${where} request`, `${key} is no parameter`);
  }
  // A token that is wrong or may not see the repository, a reached limit and a gateway concern every operation, so the
  // description of most leaves them out.
  if (!operation.responses[status] && [401, 403, 404, 429, 502].includes(status)) {
    return answer?.message ? undefined : report(`${where} ${status}`, "no message");
  }
  const documented = operation.responses[status];
  if (!documented) return report(where, `status ${status} is not documented`);
  const content = resolved(documented).content?.["application/json"];
  if (answer === null || !content) return;
  const pointer = documented.$ref
    ? `${documented.$ref.slice(1)}/content/application~1json/schema`
    : `${base}/responses/${status}/content/application~1json/schema`;
  validateJson(pointer, answer, `${where} ${status}`);
}

const exchanges = read(process.argv[2]).trim().split("\n").map((line) => JSON.parse(line));
for (const exchange of exchanges) (exchange.path.endsWith("/graphql") ? checkGraphql : checkRest)(exchange);
for (const [problem, count] of problems) console.error(`${problem} (${count} times)`);
console.log(`${exchanges.length} exchanges with GitHub checked, ${problems.size} problems`);
process.exit(problems.size === 0 && exchanges.length > 0 ? 0 : 1);
