/** Finds the API key that a word means. */
import type { KeyView } from "../../subjects/keys/routes.ts"
import { pick } from "../flags/Flags.ts"

/** The key of a name or an id, else the one whose secret begins so: `key list` shows the beginnings. */
export const pickKey = <A extends Pick<KeyView, "id" | "name" | "prefix">>(all: ReadonlyArray<A>, word: string) => {
  const shown = word.replace(/(?:…|\.\.\.)$/, "")
  const begun = all.filter(({ prefix }) => prefix === shown)
  const isNamed = all.some(({ id, name }) => name === word || id === word)
  const [only] = begun
  return pick("key", all, !isNamed && begun.length === 1 && only !== undefined ? only.id : word, "gateway key list")
}
