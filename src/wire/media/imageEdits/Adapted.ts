/** Shared parts of the adapters for providers with forms of their own. */
import type { Conversation } from "../../canonical/Conversation.ts"
import { partsOfAtMost } from "../images/Parts.ts"
import { typed } from "./Request.ts"

/** Members of OpenAI's form that speak of the pictures to change. */
const ofPictures: ReadonlySet<string> = new Set(["image", "image[]", "images", "mask", "input_fidelity"])
const counterpartless = ["mask", "input_fidelity"] as const

const typedExtras = (conversation: Conversation): Conversation => ({
  ...conversation,
  extras: typed(conversation.extras ?? {})
})

/**
 * Splits off the request without its pictures, as JSON has it, and lists the members of pictures that no upstream gets.
 * `taken`: members that the provider has a counterpart for.
 */
export const withoutPictures = (conversation: Conversation, taken: ReadonlyArray<string>) => {
  const { extras = {} } = typedExtras(conversation)
  return {
    rest: {
      ...conversation,
      extras: Object.fromEntries(Object.entries(extras).filter(([name]) => !ofPictures.has(name)))
    },
    dropped: counterpartless.filter((name) => extras[name] !== undefined && !taken.includes(name))
  }
}

export const onePerRequest = (conversation: Conversation) => partsOfAtMost(1)(typedExtras(conversation))
