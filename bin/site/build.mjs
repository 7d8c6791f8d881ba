/**
 * Builds the site of the documentation from `docs`: `npm run site -- --out <folder> [--base /path/] [--docs <folder>]`. Pages, search, a page for each part of the API and
 * a link to each file that pages name; a link that leads nowhere fails it. Nothing in it is asked of another server.
 */
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { dirname, join, relative, resolve } from "node:path"
import { fileURLToPath } from "node:url"
import { parseArgs } from "node:util"
import { build } from "vitepress"
import { apiDocument } from "../release/apiDocument.mjs"
import { referencePages } from "./apiReference.mjs"
import { homePage, sidebarOf } from "./pages.mjs"

const root = fileURLToPath(new URL("../..", import.meta.url))

/** Files beside `docs` that pages link to. */
const beside = [
  "ARCHITECTURE.md",
  "CHANGELOG.md",
  "CONTRIBUTING.md",
  "SECURITY.md",
  "bench/README.md",
  "compose.cluster.yaml"
]

const { values } = parseArgs({
  options: {
    out: { type: "string", default: "site" },
    base: { type: "string", default: "/" },
    docs: { type: "string", default: join(root, "docs") }
  }
})
const docs = resolve(values.docs)

const filesIn = (folder) =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))

/** A link as the site has it: pages stay as they are, other files stand in `public`, and what is outside `docs` has a copy. */
const linkOf = (path, page) => {
  const target = relative(docs, resolve(docs, dirname(page), path))
  if (!target.startsWith("..")) return /\.(?:md|png|svg)$/.test(path) ? path : `/${target}`
  const outside = target.slice("../".length)
  if (!beside.includes(outside)) throw new Error(`${page} links to ${outside}, which the site does not have`)
  return `/project/${outside.replace("/", "-")}`
}

const withSiteLinks = (text, page) =>
  text.replaceAll(
    /\]\(((?![a-z]+:|[#/])[^)#\s]+)(#[^)]*)?\)/g,
    (_, path, anchor = "") => `](${linkOf(path, page)}${anchor})`
  )

/** Pages of the project have no pages of the site behind their own links. */
const withoutLinks = (text) => text.replaceAll(/\[([^\]]+)\]\((?!https?:)[^)]*\)/g, "$1")

const place = (folder, path, text) => {
  mkdirSync(dirname(join(folder, path)), { recursive: true })
  writeFileSync(join(folder, path), text)
}

const furnish = async (folder) => {
  for (const file of filesIn(docs)) {
    const page = relative(docs, file)
    if (page.endsWith(".md")) place(folder, page, withSiteLinks(readFileSync(file, "utf8"), page))
    else {
      cpSync(file, join(folder, "public", page), { recursive: true })
      // Pictures are read from beside their page, too.
      if (/\.(?:png|svg)$/.test(page)) cpSync(file, join(folder, page))
    }
  }
  for (const file of beside) {
    if (!file.endsWith(".md")) {
      cpSync(join(root, file), join(folder, "public/project", file))
      continue
    }
    place(folder, join("project", file.replace("/", "-")), withoutLinks(readFileSync(join(root, file), "utf8")))
  }
  const pages = referencePages(await apiDocument())
  for (const { path, text } of pages) place(folder, path, text)
  return pages
}

const main = async () => {
  const { description, version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"))
  // Below the project, where the generator finds what it is made of.
  const folder = join(root, ".gateway", `site-${process.pid}`)
  const outDir = resolve(values.out)
  try {
    const pages = await furnish(folder)
    place(folder, "index.md", homePage(description))
    const sidebar = sidebarOf(readFileSync(join(folder, "README.md"), "utf8"), folder, pages)
    cpSync(new URL("config.mjs", import.meta.url), join(folder, ".vitepress/config.mjs"))
    place(folder, ".vitepress/facts.json", JSON.stringify({ base: values.base, description, outDir, sidebar, version }))
    await build(folder)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
  process.stdout.write(`Built ${outDir}: ${filesIn(outDir).length} files.\n`)
}

await main().catch((error) => {
  process.stderr.write(`The site could not be built: ${error.message}\n`)
  process.exitCode = 1
})
