/** Tags of a request: names, or names with values, that its caller chooses to tell costs apart by (`X-Gateway-Tags: project=atlas, nightly`; docs/teams.md). Pure. */

export const tagsHeader = "x-gateway-tags"

export const mostTags = 8
/** Most characters of a name, and of a value. */
export const mostTagChars = 64
/** Most characters of all tags, as they are written. */
export const mostTagsChars = 500

const part = `[A-Za-z0-9_.:/@+-]{1,${mostTagChars}}`
/** No sign comes first: a table program takes a cell that begins with one for a formula. */
const tagPattern = new RegExp(`^(?=[A-Za-z0-9_])${part}(?:=${part})?$`)

/** The tags of a header in one order, each once, with commas between; a sentence's end where it is none of this form. */
export const tagsIn = (header: string): { readonly tags: string } | { readonly problem: string } => {
  if (header.length > mostTagsChars) return { problem: `longer than ${mostTagsChars} characters` }
  const given = header.split(",").map((tag) => tag.trim())
  if (given.length > mostTags) return { problem: `more than ${mostTags} tags` }
  if (!given.every((tag) => tagPattern.test(tag))) {
    return {
      problem: `must be names, or names with values (project=atlas), with commas between: letters, digits and _.:/@+-, ${mostTagChars} of them at most, no sign first`
    }
  }
  return { tags: [...new Set(given)].toSorted().join(",") }
}

/** Members of a request that may stand for tags. */
export const tagSources = ["user", "metadata"] as const
export type TagSource = (typeof tagSources)[number]

/** Members of `metadata` that are looked at; providers take sixteen. */
const mostMembers = 16

const tagOf = (name: string, value: unknown): ReadonlyArray<string> => {
  const tag = typeof value === "string" || typeof value === "number" ? `${name}=${value}` : ""
  return tagPattern.test(tag) ? [tag] : []
}

/** The tags that members of a body stand for; what has not the form of a tag is left out, as it was not meant for one. */
export const tagsOfBody = (
  body: { readonly [name: string]: unknown },
  sources: ReadonlyArray<TagSource>
): ReadonlyArray<string> =>
  sources.flatMap((source) => {
    const value = body[source]
    if (source === "user") return tagOf(source, value)
    if (typeof value !== "object" || value === null || Array.isArray(value)) return []
    return Object.entries(value)
      .slice(0, mostMembers)
      .flatMap(([name, member]) => tagOf(name === "user_id" ? "user" : name, member))
  })

/** The tags of a header, and as many of a body as there is room for; null: there are none. */
export const withTags = (header: string | null, more: ReadonlyArray<string>): string | null => {
  const given = new Set(tagsOf(header))
  let length = header?.length ?? -1
  for (const tag of more) {
    if (given.size >= mostTags) break
    if (given.has(tag) || length + 1 + tag.length > mostTagsChars) continue
    given.add(tag)
    length += 1 + tag.length
  }
  return given.size === 0 ? null : [...given].toSorted().join(",")
}

/** The tags of a row; null: it has none, or its header was refused. */
export const tagsOnFile = (header: string | null): string | null => {
  if (header === null) return null
  const found = tagsIn(header)
  return "tags" in found ? found.tags : null
}

/** The single tags of a row. */
export const tagsOf = (tags: string | null): ReadonlyArray<string> => (tags === null ? [] : tags.split(","))
