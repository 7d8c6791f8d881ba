/** Parts of the pages of skills: tables and front matter. Pure. */

/** A text within a cell of a table, on one line. */
const cell = (text: string): string =>
  text
    .replaceAll(/\s+/g, " ")
    .replaceAll("|", String.raw`\|`)
    .trim()

export const table = (
  heads: ReadonlyArray<string>,
  rows: ReadonlyArray<ReadonlyArray<string>>
): ReadonlyArray<string> =>
  rows.length === 0
    ? []
    : [
        `| ${heads.join(" | ")} |`,
        `|${heads.map(() => "---").join("|")}|`,
        ...rows.map((row) => `| ${row.map(cell).join(" | ")} |`)
      ]

export const code = (language: string, text: string): ReadonlyArray<string> => [`\`\`\`${language}`, text, "```"]

/** Values are quoted as JSON, which YAML reads. */
export const frontMatter = (members: Readonly<Record<string, string>>): ReadonlyArray<string> => [
  "---",
  ...Object.entries(members).map(
    ([name, value]) => `${name}: ${/^[\w-]+$/.test(value) ? value : JSON.stringify(value)}`
  ),
  "---"
]

/** Sections with a blank line between them; empty ones are left out. */
export const page = (...sections: ReadonlyArray<ReadonlyArray<string>>): string =>
  `${sections
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.join("\n"))
    .join("\n\n")}\n`
