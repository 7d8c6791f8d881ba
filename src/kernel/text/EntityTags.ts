/** Entity tags and the conditions of requests that name them (RFC 9110, 8.8.3 and 13.1). */

/** A condition that names tags; `*` for any. */
export type TagCondition = "*" | ReadonlyArray<string>

const member = /\s*(?:,\s*)*((?:W\/)?"[\x21\x23-\x7e\x80-\xff]*")\s*(?:,|$)/y

/** Longest condition that is read; one of some two hundred tags. */
const maxLength = 8_192

/** Reads the value of `If-Match` or `If-None-Match`; null where it is neither `*` nor a list of tags. */
export const tagCondition = (value: string): TagCondition | null => {
  const text = value.trim()
  if (text === "*") return "*"
  if (text.length > maxLength) return null
  const tags: Array<string> = []
  member.lastIndex = 0
  while (member.lastIndex < text.length) {
    const found = member.exec(text)
    if (found?.[1] === undefined) return null
    tags.push(found[1])
  }
  return tags.length === 0 ? null : tags
}

const opaque = (tag: string): string => (tag.startsWith("W/") ? tag.slice(2) : tag)

/** Compares strongly: a weak tag equals none, not even itself. */
export const namesStrongly = (condition: TagCondition, tag: string): boolean =>
  condition === "*" || (!tag.startsWith("W/") && condition.includes(tag))

/** Compares weakly: whether what is named means the same, if not byte for byte. */
export const namesWeakly = (condition: TagCondition, tag: string): boolean =>
  condition === "*" || condition.some((each) => opaque(each) === opaque(tag))
