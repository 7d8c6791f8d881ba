// Builds the dashboard into <folder>/dashboard: modules, one chunk for each view, one style sheet, each named by its content, with what is served
// compressed beside it; `manifest.json` lists them.
import { createHash } from "node:crypto"
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { brotliCompressSync, constants, gzipSync } from "node:zlib"
import { operations } from "./dashboardForms.mjs"
import { unresolvedIsAnError } from "./threads.mjs"

const root = fileURLToPath(new URL("..", import.meta.url))
const source = join(root, "src/dashboard")

/** Smaller files are sent as they are. */
const compressedFrom = 1024

const types = {
  js: "text/javascript; charset=utf-8",
  css: "text/css; charset=utf-8",
  svg: "image/svg+xml",
  json: "application/json"
}

const hashOf = (text) => createHash("sha256").update(text).digest("hex").slice(0, 12)

const filesBelow = (folder, end) =>
  readdirSync(folder, { recursive: true })
    .filter((file) => file.endsWith(end))
    .toSorted()
    .map((file) => join(folder, file))

/** All styles as one sheet: what each layer is for stands in styles/layers.css. */
const style = () => {
  const plot = readFileSync(join(root, "node_modules/uplot/dist/uPlot.min.css"), "utf8")
  const own = filesBelow(source, ".css").toSorted(
    (a, b) => Number(b.endsWith("layers.css")) - Number(a.endsWith("layers.css"))
  )
  const text = [...own.map((file) => readFileSync(file, "utf8")), `@layer packages{${plot}}`].join("\n")
  return text
    .replaceAll(/\/\*[^]*?\*\//g, "")
    .replaceAll(/\s+/g, " ")
    .replaceAll(/\s*([{};,])\s*/g, "$1")
    .replaceAll(";}", "}")
}

const bundle = async (rolldown, isQuick, define) => {
  const built = await rolldown({
    input: { dashboard: join(source, "shell/main.tsx"), look: join(source, "shell/look.ts") },
    cwd: root,
    platform: "browser",
    transform: { define: { "process.env.NODE_ENV": '"production"', ...define } },
    onLog: unresolvedIsAnError
  })
  try {
    const { output } = await built.generate({
      format: "esm",
      hashCharacters: "hex",
      entryFileNames: "[name]-[hash].js",
      chunkFileNames: "[name]-[hash].js",
      minify: !isQuick
    })
    return output.filter(({ type }) => type === "chunk")
  } finally {
    await built.close()
  }
}

const write = (folder, name, text) => {
  const bytes = Buffer.from(text)
  const codings = ["identity"]
  writeFileSync(join(folder, name), bytes)
  if (bytes.length >= compressedFrom) {
    codings.push("gzip", "br")
    writeFileSync(join(folder, `${name}.gz`), gzipSync(bytes, { level: 9 }))
    writeFileSync(
      join(folder, `${name}.br`),
      brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 11 } })
    )
  }
  return { type: types[name.split(".").at(-1)] ?? "application/octet-stream", codings }
}

/** Files that the shell loads by what they are called in it: `%look%`. */
const shellOf = (names) =>
  readFileSync(join(source, "shell/index.html"), "utf8").replaceAll(
    /%(look|dashboard|style|icon|build|early)%/g,
    (_all, name) => names[name]
  )

export const buildDashboard = async (rolldown, folder, isQuick) => {
  const out = join(folder, "dashboard")
  const assets = join(out, "assets")
  mkdirSync(assets, { recursive: true })
  const files = {}
  const { filled, index, texts } = await operations(rolldown)
  for (const [name, text] of texts) files[name] = write(assets, name, text)
  const chunks = await bundle(rolldown, isQuick, {
    OPERATIONS_FILE: JSON.stringify(index),
    BODIES_FILE: JSON.stringify(filled)
  })
  for (const { code, fileName } of chunks) files[fileName] = write(assets, fileName, code)
  const entry = (name) => chunks.find((chunk) => chunk.isEntry && chunk.name === name)
  const sheet = style()
  const styleName = `style-${hashOf(sheet)}.css`
  files[styleName] = write(assets, styleName, sheet)
  const icon = readFileSync(join(source, "shell/icon.svg"), "utf8")
  const iconName = `icon-${hashOf(icon)}.svg`
  files[iconName] = write(assets, iconName, icon)
  // What the first view needs at once is asked for with the shell.
  const early = entry("dashboard")
    .imports.map((file) => `<link rel="modulepreload" href="%root%assets/${file}">`)
    .join("\n")
  const build = hashOf(JSON.stringify(Object.keys(files).toSorted()))
  writeFileSync(
    join(out, "index.html"),
    shellOf({
      look: entry("look").fileName,
      dashboard: entry("dashboard").fileName,
      style: styleName,
      icon: iconName,
      build,
      early
    })
  )
  writeFileSync(join(out, "manifest.json"), `${JSON.stringify({ build, shell: "index.html", files })}\n`)
  return chunks
}
