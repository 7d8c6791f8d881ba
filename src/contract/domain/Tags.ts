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
      problem: `must be names, or names with values (project=atlas), with commas between: letters, digits and _.:/@+-, ${mostTagChars} of them at most`
    }
  }
  return { tags: [...new Set(given)].toSorted().join(",") }
}

/** The tags of a row; null: it has none, or its header was refused. */
export const tagsOnFile = (header: string | null): string | null => {
  if (header === null) return null
  const found = tagsIn(header)
  return "tags" in found ? found.tags : null
}

/** The single tags of a row. */
export const tagsOf = (tags: string | null): ReadonlyArray<string> => (tags === null ? [] : tags.split(","))
