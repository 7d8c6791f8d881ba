/** Operations of a PATCH (RFC 7644, 3.5.2), with what Entra and Okta write in other ways. Pure. */
import { isArray, isObject, type Json, type JsonObject } from "../../wire/json/Json.ts"
import { badPath, badSyntax, badValue, maxOperations, schemaIds, ScimError } from "./entity.ts"
import { type Filter, plainPath, readFilter } from "./Filter.ts"

/** Path of an operation: `emails[type eq "work"].value` is `emails`, the filter and `value`. */
export interface Path {
  /** Name of the attribute, in lower case. */
  readonly attribute: string
  readonly filter: Filter | null
  /** Name of the part of it, in lower case; null: all of it. */
  readonly part: string | null
}

export interface Operation {
  readonly op: "add" | "replace" | "remove"
  /** Null: the value names its attributes. */
  readonly path: Path | null
  readonly value: Json | undefined
}

const maxPathChars = 1_000

/** Attributes of other schemas, such as Entra's enterprise user: they are taken and not kept. */
const isForeign = (path: string): boolean => path.startsWith("urn:")

export const readPath = (text: string): Path | ScimError => {
  if (text.length > maxPathChars) return badPath(`A path is longer than ${maxPathChars} characters.`)
  const start = text.indexOf("[")
  if (start < 0) {
    const plain = plainPath(text.trim())
    if (isForeign(plain)) return { attribute: plain, filter: null, part: null }
    const [attribute = "", part, ...more] = plain.split(".")
    if (!/^[a-z$][\w$-]*$/.test(attribute) || more.length > 0) return badPath("A path is not one of SCIM.")
    return { attribute, filter: null, part: part ?? null }
  }
  const end = text.lastIndexOf("]")
  const rest = end < 0 ? "" : text.slice(end + 1).trim()
  if (end < start || (rest !== "" && !/^\.[A-Za-z][\w-]*$/.test(rest))) return badPath("A path is not one of SCIM.")
  const filter = readFilter(text.slice(start + 1, end))
  if (filter instanceof ScimError) return badPath(filter.detail)
  const part = rest === "" ? null : rest.slice(1).toLowerCase()
  return { attribute: plainPath(text.slice(0, start).trim()), filter, part }
}

const operationOf = (value: Json): Operation | ScimError => {
  if (!isObject(value)) return badSyntax("An operation is no object.")
  // Entra writes them with a capital.
  const op = typeof value["op"] === "string" ? value["op"].toLowerCase() : ""
  if (op !== "add" && op !== "replace" && op !== "remove") return badSyntax("'op' is add, replace or remove.")
  const given = value["path"] ?? null
  if (given !== null && typeof given !== "string") return badPath("'path' is a text.")
  const path = given === null || given.trim() === "" ? null : readPath(given)
  if (path instanceof ScimError) return path
  if (path === null && op === "remove") {
    return new ScimError({ status: 400, scimType: "noTarget", detail: "'remove' needs a path." })
  }
  if (path === null && !isObject(value["value"]))
    return badValue("An operation without a path needs an object as its value.")
  if (op !== "remove" && value["value"] === undefined) return badValue(`'${op}' needs a value.`)
  return { op, path, value: value["value"] }
}

/** Reads the operations of a body. */
export const readOperations = (body: JsonObject): ReadonlyArray<Operation> | ScimError => {
  const schemas = body["schemas"]
  if (!isArray(schemas) || !schemas.includes(schemaIds.patch))
    return badSyntax(`'schemas' has to name ${schemaIds.patch}.`)
  const given = body["Operations"] ?? body["operations"]
  if (!isArray(given) || given.length === 0) return badSyntax("'Operations' is a list with at least one operation.")
  if (given.length > maxOperations) {
    return new ScimError({
      status: 400,
      scimType: "tooMany",
      detail: `A PATCH has at most ${maxOperations} operations.`
    })
  }
  const operations: Array<Operation> = []
  for (const each of given) {
    const operation = operationOf(each)
    if (operation instanceof ScimError) return operation
    operations.push(operation)
  }
  return operations
}

/** Attributes that an operation without a path names: each is an operation with one. Names may be paths, as Entra writes them. */
export const withPaths = (operation: Operation): ReadonlyArray<Operation & { readonly path: Path }> | ScimError => {
  const { op, path, value } = operation
  if (path !== null) return [{ op, path, value }]
  const found: Array<Operation & { readonly path: Path }> = []
  for (const [name, each] of Object.entries(isObject(value) ? value : {})) {
    const read = readPath(name)
    if (read instanceof ScimError) return read
    found.push({ op, path: read, value: each })
  }
  return found
}

/** Reads a boolean; Entra writes `"False"`. */
export const booleanOf = (value: Json | undefined): boolean | null => {
  if (typeof value === "boolean") return value
  const text = typeof value === "string" ? value.toLowerCase() : ""
  return text === "true" ? true : text === "false" ? false : null
}
