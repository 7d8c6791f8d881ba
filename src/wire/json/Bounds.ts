/** Parses foreign JSON within the limits of `Excess.ts`, and reports which one it exceeds, or which member is repeated. */
import { countMembers, type Excess, excessMessage } from "./Excess.ts"
import type { Json } from "./Json.ts"
import { membersIn, repeatedMember } from "./Repeats.ts"

/** A text that exceeds a limit, is not JSON, or has more than one reading. `message` is a sentence for the sender. */
export class Unreadable {
  readonly message: string
  /** Path of the member that the message is about; null when it is about the whole text. */
  readonly param: string | null

  constructor(message: string, param: string | null = null) {
    this.message = message
    this.param = param
  }
}

export const notJson = new Unreadable("The request body is not valid JSON.")
export const unreadable: Readonly<Record<Excess, Unreadable>> = {
  depth: new Unreadable(excessMessage.depth),
  keys: new Unreadable(excessMessage.keys),
  topMembers: new Unreadable(excessMessage.topMembers),
  values: new Unreadable(excessMessage.values)
}

export const repeated = (path: string): Unreadable =>
  new Unreadable(`${path}: the member is repeated. Programs differ in which one they read: send it once.`, path)

const parsed = (text: string): Json | undefined => {
  try {
    return JSON.parse(text) as Json
  } catch {
    return undefined
  }
}

/**
 * Parses the JSON of a request within the limits. A member that is repeated in its object, at any depth, is refused: programs differ in
 * which one they read. `topMembers`: limit of the outermost object, where it has its own.
 */
export const readForeignJson = (text: string, topMembers?: number): Json | Unreadable => {
  const members = countMembers(text, topMembers)
  if (typeof members === "string") return unreadable[members]
  const value = parsed(text)
  if (value === undefined) return notJson
  // Of members with the same name, one is left in the value.
  return membersIn(value) === members ? value : repeated(repeatedMember(text))
}

/** The same for an answer, of which the gateway hands on only what it has read: the last of repeated members counts. */
export const readAnswerJson = (text: string, topMembers?: number): Json | Unreadable => {
  const members = countMembers(text, topMembers)
  return typeof members === "string" ? unreadable[members] : (parsed(text) ?? notJson)
}
