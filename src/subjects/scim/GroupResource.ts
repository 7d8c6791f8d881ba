/** A group as a resource of SCIM: how it is read, and changed by a PATCH. Pure. */
import { isArray, type Json, type JsonObject, objectOr } from "../../wire/json/Json.ts"
import { plainText } from "../../kernel/text/PlainText.ts"
import { badPath, badValue, ScimError } from "./entity.ts"
import { valuesIn } from "./Filter.ts"
import { type Operation, type Path, withPaths } from "./Operations.ts"

export interface GroupDraft {
  readonly displayName: string
  readonly externalId: string | null
  /** Ids of people. */
  readonly members: ReadonlySet<string>
}

/** Characters of the name of a team. */
const maxNameChars = 200
const maxExternalChars = 300

const displayNameOf = (value: Json | undefined): string | ScimError => {
  const name = typeof value === "string" ? plainText(value) : ""
  if (name === "") return badValue("'displayName' is missing.")
  return name.length > maxNameChars ? badValue(`'displayName' has more than ${maxNameChars} characters.`) : name
}

const externalIdOf = (value: Json | undefined): string | null | ScimError => {
  if (value === undefined || value === null || value === "") return null
  if (typeof value !== "string" || value.length > maxExternalChars || plainText(value) !== value.trim()) {
    return badValue("'externalId' is no text, is too long or has characters that cannot be seen.")
  }
  return value.trim()
}

/** Ids of members: objects with a value, or the ids themselves. */
const membersOf = (value: Json | undefined): ReadonlyArray<string> | ScimError => {
  if (value === undefined || value === null) return []
  const found: Array<string> = []
  for (const each of isArray(value) ? value : [value]) {
    const id = typeof each === "string" ? each : objectOr(each)["value"]
    if (typeof id !== "string" || id === "" || id.length > 100)
      return badValue("A member has no 'value' with the id of a person.")
    found.push(id)
  }
  return found
}

/** Reads a group of a POST or PUT. */
export const readGroup = (body: JsonObject): GroupDraft | ScimError => {
  const displayName = displayNameOf(body["displayName"])
  if (displayName instanceof ScimError) return displayName
  const externalId = externalIdOf(body["externalId"])
  if (externalId instanceof ScimError) return externalId
  const members = membersOf(body["members"])
  return members instanceof ScimError ? members : { displayName, externalId, members: new Set(members) }
}

/** Group that a PATCH works on; the members are a set of its own. */
interface Working {
  displayName: string
  externalId: string | null
  members: Set<string>
}

const patchChosen = (group: Working, op: Operation["op"], { filter, part }: Path): ScimError | null => {
  const values = filter === null ? null : valuesIn(filter)
  if (values === null || (part !== null && part !== "value")) {
    return badPath('Members are named as members[value eq "<id>"].')
  }
  for (const value of values) {
    if (op === "remove") group.members.delete(value)
    else group.members.add(value)
  }
  return null
}

const patchMembers = (group: Working, { op, value }: Operation, path: Path): ScimError | null => {
  if (path.filter !== null) return patchChosen(group, op, path)
  if (path.part !== null) return badPath("Members have no parts that are changed.")
  const given = membersOf(value)
  if (given instanceof ScimError) return given
  if (op === "replace") group.members = new Set(given)
  // Entra sends the members to remove as the value; without a value all members are removed.
  else if (op === "remove" && (value === undefined || value === null)) group.members = new Set()
  else if (op === "remove") for (const id of given) group.members.delete(id)
  else for (const id of given) group.members.add(id)
  return null
}

const patchOne = (group: Working, operation: Operation & { readonly path: Path }): ScimError | null => {
  const { op, path, value } = operation
  switch (path.attribute) {
    case "members":
      return patchMembers(group, operation, path)
    case "displayname": {
      const name = op === "remove" ? badValue("'displayName' is needed.") : displayNameOf(value)
      if (name instanceof ScimError) return name
      group.displayName = name
      return null
    }
    case "externalid": {
      const externalId = op === "remove" ? null : externalIdOf(value)
      if (externalId instanceof ScimError) return externalId
      group.externalId = externalId
      return null
    }
    default:
      // Okta names the id and the schemas beside what changes.
      return null
  }
}

/** Changes a group by the operations of a PATCH: by all of them or by none. */
export const patchGroup = (before: GroupDraft, operations: ReadonlyArray<Operation>): GroupDraft | ScimError => {
  const group: Working = { ...before, members: new Set(before.members) }
  for (const operation of operations) {
    const parts = withPaths(operation)
    if (parts instanceof ScimError) return parts
    for (const part of parts) {
      const problem = patchOne(group, part)
      if (problem !== null) return problem
    }
  }
  return group
}
