/** A person as a resource of SCIM: how it is read, changed by a PATCH, and what it is here. Pure. */
import { plainText } from "../../kernel/text/PlainText.ts"
import { isArray, isObject, type Json, type JsonObject } from "../../wire/json/Json.ts"
import { badPath, badValue, maxChars, maxEmails, type Provisioned, type ProvisionedEmail, ScimError } from "./entity.ts"
import { isEmail } from "../users/entity.ts"
import { type Filter, testOf } from "./Filter.ts"
import { booleanOf, type Operation, type Path, withPaths } from "./Operations.ts"

export interface Draft {
  readonly provisioned: Provisioned
  readonly active: boolean
}

const empty: Provisioned = {
  userName: "",
  externalId: null,
  displayName: null,
  formatted: null,
  givenName: null,
  familyName: null,
  emails: []
}

type TextName = "userName" | "externalId" | "displayName" | "formatted" | "givenName" | "familyName"

/** Attributes that are texts, by their paths. */
const texts: Readonly<Record<string, TextName>> = {
  username: "userName",
  externalid: "externalId",
  displayname: "displayName",
  "name.formatted": "formatted",
  "name.givenname": "givenName",
  "name.familyname": "familyName"
}

const isIdentifier = (name: TextName): boolean => name === "userName" || name === "externalId"

/** Reads a text; empty and null: none. Identifiers stay as they are, so that they have no controls. */
const textOf = (name: TextName, value: Json | undefined): string | null | ScimError => {
  if (value === undefined || value === null) return null
  const text = typeof value === "number" ? String(value) : value
  if (typeof text !== "string") return badValue(`'${name}' is no text.`)
  if (text.length > maxChars) return badValue(`'${name}' has more than ${maxChars} characters.`)
  if (!isIdentifier(name)) return plainText(text) || null
  if (plainText(text) !== text.trim()) return badValue(`'${name}' has characters that cannot be seen.`)
  return text.trim() || null
}

const emailOf = (value: Json): ProvisionedEmail | ScimError | null => {
  const email: Json = typeof value === "string" ? { value } : value
  if (!isObject(email)) return badValue("'emails' is a list of objects with a value.")
  const { primary, type, value: address } = email
  // Entra sends entries without an address for people who have none.
  if (address === undefined || address === null || address === "") return null
  if (typeof address !== "string" || !isEmail(address.trim())) return badValue("An e-mail address is not one.")
  const kind = typeof type === "string" ? plainText(type).slice(0, 50) : ""
  return { value: address.trim(), type: kind === "" ? null : kind, primary: booleanOf(primary) === true }
}

const emailsOf = (value: Json | undefined): ReadonlyArray<ProvisionedEmail> | ScimError => {
  if (value === undefined || value === null) return []
  const given = isArray(value) ? value : [value]
  if (given.length > maxEmails) return badValue(`A person has at most ${maxEmails} e-mail addresses here.`)
  const found: Array<ProvisionedEmail> = []
  for (const each of given) {
    const email = emailOf(each)
    if (email instanceof ScimError) return email
    if (email !== null && !found.some((known) => known.value === email.value && known.type === email.type)) {
      found.push(email)
    }
  }
  return found
}

/** One address is the primary one at most: the last that says so. */
const withOnePrimary = (emails: ReadonlyArray<ProvisionedEmail>): ReadonlyArray<ProvisionedEmail> => {
  const at = emails.findLastIndex(({ primary }) => primary)
  return emails.map((email, index) => ({ ...email, primary: index === at }))
}

/** Address that the person has here, in lower case; null: none was pushed. */
export const addressOf = ({ emails, userName }: Provisioned): string | null => {
  const chosen = emails.find(({ primary }) => primary) ?? emails.find(({ type }) => type === "work") ?? emails[0]
  if (chosen !== undefined) return chosen.value.toLowerCase()
  return isEmail(userName) ? userName.toLowerCase() : null
}

/** Name that the person has here. */
export const nameOf = ({ displayName, familyName, formatted, givenName, userName }: Provisioned): string =>
  (displayName ?? formatted ?? (`${givenName ?? ""} ${familyName ?? ""}`.trim() || userName)).slice(0, 200).trim()

/** The name by which people are told apart, in lower case. */
export const keyOf = ({ userName }: Provisioned): string => userName.toLowerCase()

const checked = (draft: Draft): Draft | ScimError => {
  if (draft.provisioned.userName === "") return badValue("'userName' is missing.")
  if (addressOf(draft.provisioned) === null) {
    return badValue("The person has no e-mail address: neither in 'emails' nor as 'userName'.")
  }
  return draft
}

const withText = (draft: Draft, name: TextName, value: Json | undefined): Draft | ScimError => {
  const text = textOf(name, value)
  if (text instanceof ScimError) return text
  return { ...draft, provisioned: { ...draft.provisioned, [name]: name === "userName" ? (text ?? "") : text } }
}

const withEmails = (draft: Draft, emails: ReadonlyArray<ProvisionedEmail>): Draft | ScimError => {
  if (emails.length > maxEmails) return badValue(`A person has at most ${maxEmails} e-mail addresses here.`)
  return { ...draft, provisioned: { ...draft.provisioned, emails: withOnePrimary(emails) } }
}

const nameParts = ["formatted", "givenName", "familyName"] as const

const memberOf = (value: JsonObject, name: string): Json | undefined => {
  const own = Object.keys(value).find((each) => each.toLowerCase() === name.toLowerCase())
  return own === undefined ? undefined : value[own]
}

const withName = (draft: Draft, value: Json | undefined, replaces: boolean): Draft | ScimError => {
  if (value !== undefined && value !== null && !isObject(value)) return badValue("'name' is no object.")
  const given = value ?? {}
  let after: Draft | ScimError = draft
  for (const part of nameParts) {
    const text = memberOf(given, part)
    if (text === undefined && !replaces) continue
    after = withText(after, part, text)
    if (after instanceof ScimError) return after
  }
  return after
}

/** Reads a person of a POST or PUT. What is absent is none; a person is active unless it says otherwise. */
export const readUser = (body: JsonObject): Draft | ScimError => {
  const given = memberOf(body, "active")
  const active = given === undefined || given === null ? true : booleanOf(given)
  if (active === null) return badValue("'active' is true or false.")
  let draft: Draft | ScimError = { provisioned: empty, active }
  for (const name of ["userName", "externalId", "displayName"] as const) {
    draft = withText(draft, name, memberOf(body, name))
    if (draft instanceof ScimError) return draft
  }
  draft = withName(draft, memberOf(body, "name"), true)
  if (draft instanceof ScimError) return draft
  const emails = emailsOf(memberOf(body, "emails"))
  if (emails instanceof ScimError) return emails
  draft = withEmails(draft, emails)
  return draft instanceof ScimError ? draft : checked(draft)
}

const emailAttributes = {
  type: { isExact: false, valuesOf: ({ type }: ProvisionedEmail) => [type] },
  value: { isExact: false, valuesOf: ({ value }: ProvisionedEmail) => [value] },
  primary: { isExact: false, valuesOf: ({ primary }: ProvisionedEmail) => [primary] }
} as const

/** Type that a filter asks for: the entry that Entra means to make by `emails[type eq "work"].value`. */
const typeIn = (filter: Filter): string | null =>
  filter._tag === "Compare" && filter.path === "type" && filter.operator === "eq" && typeof filter.value === "string"
    ? filter.value
    : null

const withPart = (
  email: ProvisionedEmail,
  part: string | null,
  value: Json | undefined
): ProvisionedEmail | ScimError => {
  const changes: Json = part === null ? (value ?? {}) : { [part]: value ?? null }
  if (!isObject(changes)) return badValue("An entry of 'emails' is an object.")
  const after = emailOf({ ...email, ...changes })
  return after === null ? badValue("An e-mail address is missing.") : after
}

const patchChosen = (draft: Draft, { op, value }: Operation, { filter, part }: Path): Draft | ScimError => {
  const { emails } = draft.provisioned
  const test = filter === null ? () => true : testOf(filter, emailAttributes)
  if (test instanceof ScimError) return badPath(test.detail)
  if (op === "remove" || value === null || value === "")
    return withEmails(
      draft,
      emails.filter((each) => !test(each))
    )
  if (!emails.some(test)) {
    const type = filter === null ? null : typeIn(filter)
    if (type === null)
      return new ScimError({ status: 400, scimType: "noTarget", detail: "No entry of 'emails' fits the path." })
    const made = withPart({ value: "", type, primary: emails.length === 0 }, part, value)
    return made instanceof ScimError ? made : withEmails(draft, [...emails, made])
  }
  const after: Array<ProvisionedEmail> = []
  for (const email of emails) {
    const changed = test(email) ? withPart(email, part, value) : email
    if (changed instanceof ScimError) return changed
    after.push(changed)
  }
  return withEmails(draft, after)
}

const patchEmails = (draft: Draft, operation: Operation, path: Path): Draft | ScimError => {
  if (path.filter !== null || path.part !== null) return patchChosen(draft, operation, path)
  if (operation.op === "remove") return withEmails(draft, [])
  const given = emailsOf(operation.value)
  if (given instanceof ScimError) return given
  if (operation.op === "replace") return withEmails(draft, given)
  const known = draft.provisioned.emails.filter(
    (each) => !given.some(({ type, value }) => value === each.value && type === each.type)
  )
  return withEmails(draft, [...known, ...given])
}

const patchOne = (draft: Draft, operation: Operation & { readonly path: Path }): Draft | ScimError => {
  const { op, path, value } = operation
  const { attribute, filter, part } = path
  if (attribute === "emails") return patchEmails(draft, operation, path)
  if (attribute === "id") return draft
  if (attribute === "active") {
    const active = op === "remove" ? true : booleanOf(value)
    return active === null ? badValue("'active' is true or false.") : { ...draft, active }
  }
  if (attribute === "name" && part === null && filter === null) {
    return withName(draft, op === "remove" ? {} : value, op !== "add" && (op === "remove" || value === null))
  }
  if (attribute === "groups") {
    return new ScimError({ status: 400, scimType: "mutability", detail: "'groups' is changed at the groups." })
  }
  const name = texts[part === null ? attribute : `${attribute}.${part}`]
  // Other attributes of the law's schema are taken and not kept.
  if (name === undefined || filter !== null) return draft
  return withText(draft, name, op === "remove" ? undefined : value)
}

/** Changes a person by the operations of a PATCH: by all of them or by none. */
export const patchUser = (before: Draft, operations: ReadonlyArray<Operation>): Draft | ScimError => {
  let draft: Draft | ScimError = before
  for (const operation of operations) {
    const parts = withPaths(operation)
    if (parts instanceof ScimError) return parts
    for (const part of parts) {
      draft = patchOne(draft, part)
      if (draft instanceof ScimError) return draft
    }
  }
  return checked(draft)
}
