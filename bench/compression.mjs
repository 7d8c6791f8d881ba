/**
 * CPU of each engine of the compression per 100 KB of text: over the conversations and outputs of real programs that the table of
 * `docs/compression.md` is made of, and over prose that the rules of `caveman` are for. Bundles from src, so it needs no built gateway.
 */
import fs from "node:fs"
import { cpuOf, withSources } from "./lib/sources.mjs"

/** Most CPU milliseconds per 100 KB. */
const goalMs = 5

const files = {
  compressor: "src/plane/compression/Compressor.ts",
  blocks: "src/plane/compression/Blocks.ts",
  lite: "src/plane/compression/engines/Lite.ts",
  caveman: "src/plane/compression/caveman/Caveman.ts",
  aggressive: "src/plane/compression/engines/Aggressive.ts",
  ultra: "src/plane/compression/ultra/Ultra.ts",
  apply: "src/plane/compression/rtk/Apply.ts",
  compiled: "src/plane/compression/rtk/Compiled.ts",
  detect: "src/plane/compression/rtk/Detect.ts",
  filters: "src/plane/compression/rtk/filters/index.ts",
  results: "src/plane/compression/ResultEngines.ts",
  transcripts: "test/compression/corpus/transcripts.ts"
}

const outputsFile = new URL("../test/compression/corpus/outputs.json", import.meta.url)
const proseFiles = ["ARCHITECTURE.md", "README.md", "docs/first-hour.md", "docs/costs.md", "docs/routing.md"]

/** Documents of this repository as what a user and an assistant said in turns, with a last question behind them. */
const proseRequest = () => {
  const texts = proseFiles
    .map((file) => new URL(`../${file}`, import.meta.url))
    .filter((file) => fs.existsSync(file))
    .flatMap((file) => fs.readFileSync(file, "utf8").match(/[^]{1,8000}(?:\n\n|$)/g) ?? [])
  const messages = texts.map((content, index) => ({ role: index % 2 === 0 ? "user" : "assistant", content }))
  return { wire: "chat", body: { model: "m", messages: [...messages, { role: "user", content: "Go on." }] } }
}

const charsOf = ({ readBlocks }, { body, wire }) =>
  readBlocks(wire, body).blocks.reduce((all, { text }) => all + text.length, 0)

const rtkOf = ({ apply, compiled, detect, filters, results }) =>
  results.rtkEngine(detect.ordered(filters.builtInFilters.map(compiled.compileBuiltIn)), {
    ...apply.usualLimits,
    level: "standard"
  })

export const measureCompression = ({ quick }) =>
  withSources(files, (modules) => {
    const { aggressive, blocks, caveman, compressor, lite, results, transcripts, ultra } = modules
    const outputs = JSON.parse(fs.readFileSync(outputsFile, "utf8"))
    const worlds = { conversations: transcripts.transcriptsOf(outputs), prose: [proseRequest()] }
    const prose = caveman.cavemanEngine(caveman.defaultCaveman)
    const usualRtk = rtkOf(modules)
    const engines = {
      lite: [lite.liteEngine],
      caveman: [prose],
      aggressive: [aggressive.aggressiveEngine],
      ultra: [ultra.ultraEngine],
      rtk: [usualRtk],
      headroom: [results.headroomEngine],
      "session-dedup": [results.dedupEngine],
      ccr: [results.ccrEngine],
      stacked: [usualRtk, prose]
    }
    const tools = { keep: () => "4f1c0e2a9b7d4c3e8f6a5b1d" }
    const figures = []
    for (const [world, requests] of Object.entries(worlds)) {
      const chars = requests.reduce((all, request) => all + charsOf(blocks, request), 0)
      for (const [engine, pipeline] of Object.entries(engines)) {
        const call = () => {
          for (const { body, wire } of requests) {
            compressor.compress({
              wire,
              body,
              engines: pipeline,
              tools,
              owner: "k",
              asTheyCame: false,
              stability: null,
              monotonicMs: () => 0
            })
          }
        }
        const { bestMs, medianMs } = cpuOf(call, quick ? 150 : 600)
        const per = 100_000 / chars
        figures.push({ world, engine, chars, bestMs: bestMs * per, medianMs: medianMs * per })
      }
    }
    return figures
  })

/** The figures as a table for people, and what they say about the goal. */
export const compressionText = (figures) => {
  const worlds = [...new Set(figures.map(({ world }) => world))]
  const engines = [...new Set(figures.map(({ engine }) => engine))]
  const lines = engines.map((name) => {
    const cells = worlds.map((world) => {
      const { bestMs, medianMs } = figures.find((figure) => figure.world === world && figure.engine === name)
      return `${bestMs.toFixed(2)} (${medianMs.toFixed(2)})`
    })
    return `  ${name.padEnd(18)}${cells.map((text) => text.padStart(20)).join("")}`
  })
  const dear = figures.filter(({ medianMs }) => medianMs > goalMs).map(({ engine, world }) => `${engine} (${world})`)
  return [
    "CPU ms per 100 KB of text, best window (median)",
    `  ${"".padEnd(18)}${worlds.map((world) => world.padStart(20)).join("")}`,
    ...lines,
    "",
    dear.length === 0 ? `All meet the goal of ${goalMs} ms.` : `Over the goal of ${goalMs} ms: ${dear.join(", ")}.`
  ].join("\n")
}
