/** The pages that the site has besides those of `docs`, and the order of those. */
import { readFileSync } from "node:fs"
import { join } from "node:path"

const headingOf = (text) => /^# (.+)$/m.exec(text)?.[1]?.replaceAll("`", "") ?? null

/** Sections of the table of contents (`docs/README.md`), with the pages that their tables name. */
export const sidebarOf = (contents, folder, reference) => {
  const sections = contents.split(/^## /m).slice(1)
  const listed = sections.map((section) => {
    const [text = ""] = section.split("\n", 1)
    const links = [...section.matchAll(/^\| \[[^\]]+\]\(([^)#]+)\.md\)/gm)].map(([, page]) => page)
    return {
      text,
      collapsed: false,
      items: links.map((page) => ({
        text: headingOf(readFileSync(join(folder, `${page}.md`), "utf8")) ?? page,
        link: `/${page}`
      }))
    }
  })
  const api = reference.map(({ path, title }) => ({ text: title, link: `/${path.replace(/(?:index)?\.md$/, "")}` }))
  return [...listed.filter(({ items }) => items.length > 0), { text: "API", collapsed: true, items: api }]
}

const features = [
  [
    "Truthful",
    "A stream that is cut is an error, never a good end. Every answer has one row, and each cent is counted once.",
    "/why"
  ],
  [
    "Lossless",
    "Thinking signatures, ids, tools and unknown fields survive the way between five wire formats.",
    "/wire-fields"
  ],
  ["Explainable", "Each request says why which model at which account was asked, and what failed before.", "/routing"],
  [
    "Secure by default",
    "It listens on your machine alone, asks for keys beyond it, and keeps no prompt unless you say so.",
    "/security"
  ]
]

/** The first page. */
export const homePage = (description) =>
  [
    "---",
    "layout: home",
    "hero:",
    "  name: Gateway",
    `  tagline: ${JSON.stringify(description)}`,
    "  actions:",
    "    - { theme: brand, text: The first hour, link: /first-hour }",
    "    - { theme: alt, text: All pages, link: /README }",
    "features:",
    ...features.map(
      ([title, details, link]) =>
        `  - { title: ${JSON.stringify(title)}, details: ${JSON.stringify(details)}, link: ${link} }`
    ),
    "---",
    ""
  ].join("\n")
