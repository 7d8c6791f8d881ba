/**
 * Splits a prompt into its sections, in the order in which providers cache it: tools, system, messages; last the parameters, which are not
 * part of the prompt. The bytes of all sections together are those of the request's body. Pure.
 */
import { type Family, familyOf } from "../../../plane/tokens/Family.ts"
import { imageSizeOf } from "../../../plane/tokens/ImageSize.ts"
import { estimateTexts } from "../../../plane/tokens/TextEstimate.ts"
import { isArray, isObject, type Json, type JsonObject, stringOr } from "../../../wire/json/Json.ts"

export type SectionKind = "tools" | "system" | "message" | "parameters"

export interface Section {
  readonly kind: SectionKind
  /** `tools[3]`, `system[0]`, `messages[7]`, `temperature`. */
  readonly path: string
  /** Name of the tool, or the role of the message. */
  readonly name: string | null
  /** UTF-8. */
  readonly bytes: number
  /** Estimated; none of parameters, which are not in the context window. */
  readonly tokens: number
}

export interface Anatomy {
  readonly sections: ReadonlyArray<Section>
  readonly totalTokens: number
  readonly tokensEstimated: true
}

/** Members whose items are sections of their own, by all wires' names. */
const listMembers: Readonly<Record<string, SectionKind>> = {
  tools: "tools",
  functions: "tools",
  system: "system",
  systemInstruction: "system",
  system_instruction: "system",
  instructions: "system",
  messages: "message",
  contents: "message",
  input: "message",
  prompt: "message"
}

const order: ReadonlyArray<SectionKind> = ["tools", "system", "message", "parameters"]

const sizeOf = (text: string): number => Buffer.byteLength(text)

const nameOfTool = (tool: Json): string | null => {
  if (!isObject(tool)) return null
  const { function: inner } = tool
  return stringOr(tool["name"]) ?? (isObject(inner) ? stringOr(inner["name"]) : null) ?? stringOr(tool["type"])
}

const isSystemMessage = (item: Json): boolean =>
  isObject(item) && (item["role"] === "system" || item["role"] === "developer")

const nameOf = (kind: SectionKind, item: Json): string | null => {
  if (kind === "tools") return nameOfTool(item)
  return isObject(item) ? (stringOr(item["role"]) ?? stringOr(item["type"])) : null
}

interface Sized extends Section {
  readonly text: string
}

/** `bytes` beyond those of the text: the member's name, brackets and commas around it. */
const section = (kind: SectionKind, path: string, name: string | null, text: string, around: number): Sized => ({
  kind,
  path,
  name,
  bytes: sizeOf(text) + around,
  tokens: 0,
  text
})

/** The items of a list in a member; each has the comma or bracket behind it, the first also the member's name and the bracket before. */
const itemsOf = (
  kind: SectionKind,
  member: string,
  prefix: string,
  items: ReadonlyArray<Json>,
  lead: number
): ReadonlyArray<Sized> => {
  if (items.length === 0) return [section("parameters", `${prefix}${member}`, null, "[]", lead)]
  return items.map((item, at) => {
    const ofItem = kind === "message" && isSystemMessage(item) ? "system" : kind
    return section(
      ofItem,
      `${prefix}${member}[${at}]`,
      nameOf(ofItem, item),
      JSON.stringify(item),
      (at === 0 ? lead + 1 : 0) + 1
    )
  })
}

const memberSections = (member: string, value: Json, prefix: string): ReadonlyArray<Sized> => {
  // `"name":` and the comma or brace behind the value.
  const lead = sizeOf(JSON.stringify(member)) + 1 + 1
  const kind = listMembers[member]
  if (kind === undefined) return [section("parameters", `${prefix}${member}`, null, JSON.stringify(value), lead)]
  if (isArray(value)) return itemsOf(kind, member, prefix, value, lead)
  return [section(kind, `${prefix}${member}`, nameOf(kind, value), JSON.stringify(value), lead)]
}

const sectionsOf = (body: JsonObject, prefix: string): ReadonlyArray<Sized> => {
  const [first, ...others] = Object.entries(body).flatMap(([member, value]) =>
    value === undefined ? [] : memberSections(member, value, prefix)
  )
  // With the brace in front.
  return first === undefined ? [] : [{ ...first, bytes: first.bytes + 1 }, ...others]
}

/** Inline data: pictures and files. */
const inlineData = /[A-Za-z0-9+/_-]{2000,}={0,2}/g

const tokensOf = ({ kind, text }: Sized, family: Family): number => {
  if (kind === "parameters") return 0
  let media = 0
  const words = text.replaceAll(inlineData, (data) => {
    media += family.image(imageSizeOf(data), null)
    return ""
  })
  return Math.ceil(estimateTexts([words]) * family.factor) + media
}

/** `bytes`: of the body as it was sent; what its white space takes is a section of its own. */
export const anatomyOf = (body: JsonObject, bytes: number): Anatomy => {
  const wrapped = body["request"]
  const isWrapped = isObject(wrapped) && isArray(wrapped["contents"])
  const { request: _request, ...around } = body
  const found = isWrapped ? [...sectionsOf(around, ""), ...sectionsOf(wrapped, "request.")] : sectionsOf(body, "")
  const family = familyOf(stringOr(body["model"]) ?? "")
  const sized = found
    .toSorted((one, other) => order.indexOf(one.kind) - order.indexOf(other.kind))
    .map((each): Section => {
      const { bytes, kind, name, path } = each
      return { kind, path, name, bytes, tokens: tokensOf(each, family) }
    })
  const rest = bytes - sized.reduce((sum, each) => sum + each.bytes, 0)
  const sections: ReadonlyArray<Section> =
    rest === 0 ? sized : [...sized, { kind: "parameters", path: "", name: "formatting", bytes: rest, tokens: 0 }]
  const totalTokens = sections.reduce((sum, { tokens }) => sum + tokens, 0)
  return { sections, totalTokens, tokensEstimated: true }
}
