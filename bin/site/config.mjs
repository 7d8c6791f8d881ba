// The generator's configuration; `build.mjs` puts it beside the pages, with what it knows of them in `facts.json`.
import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"

const folder = fileURLToPath(new URL("..", import.meta.url))
const { base, description, outDir, sidebar, version } = JSON.parse(
  readFileSync(new URL("facts.json", import.meta.url), "utf8")
)

/** Files that pages link to stand in `public`. */
const isFile = (link) => existsSync(join(folder, "public", link.replace(/^\.?\//, "")))

export default {
  title: "Gateway",
  description,
  base,
  outDir,
  head: [["link", { rel: "icon", href: "data:," }]],
  // A page may show any text: none of it is HTML or an attribute.
  markdown: {
    attrs: { disable: true },
    languageAlias: { caddy: "nginx" },
    config: (markdown) => void markdown.set({ html: false })
  },
  ignoreDeadLinks: [isFile],
  themeConfig: {
    search: { provider: "local" },
    outline: [2, 3],
    nav: [
      { text: "Guide", link: "/first-hour" },
      { text: "API", link: "/api/" },
      {
        text: version,
        items: [
          { text: "Changes", link: "/project/CHANGELOG" },
          { text: "What stays as it is", link: "/compatibility" }
        ]
      }
    ],
    sidebar
  }
}
