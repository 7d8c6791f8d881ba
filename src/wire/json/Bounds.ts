/** Parses foreign JSON within the limits of `Excess.ts`, and reports which one it exceeds. */
import { type Excess, excessMessage, excessOf, maxRequestDepth, scannedFrom } from "./Excess.ts"
import { isDeeper, type Json } from "./Json.ts"

/** A text that exceeds a limit or is not JSON. `message` is a sentence for the sender. */
export class Unreadable {
  readonly message: string

  constructor(message: string) {
    this.message = message
  }
}

const notJson = new Unreadable("The request body is not valid JSON.")
const unreadable: Readonly<Record<Excess, Unreadable>> = {
  depth: new Unreadable(excessMessage.depth),
  keys: new Unreadable(excessMessage.keys),
  topMembers: new Unreadable(excessMessage.topMembers)
}

/** Parses foreign JSON within the limits. `topMembers`: limit of the outermost object, where it has its own. */
export const readForeignJson = (text: string, topMembers?: number): Json | Unreadable => {
  const excess = text.length < scannedFrom ? null : excessOf(text, topMembers)
  if (excess !== null) return unreadable[excess]
  try {
    const value: Json = JSON.parse(text)
    const mayBeDeep = text.length < scannedFrom && text.length > 2 * maxRequestDepth
    return mayBeDeep && isDeeper(value, maxRequestDepth) ? unreadable.depth : value
  } catch {
    return notJson
  }
}
