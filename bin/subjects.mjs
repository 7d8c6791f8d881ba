// Writes the lists of subjects, from the files in src/subjects: API groups, route table, handlers, client, layers of services and repositories,
// commands, sealed columns, and beside them the migrations. `npm run subjects`; `npm run build` does it first, and `test/arch` compares.
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"

const src = fileURLToPath(new URL("../src", import.meta.url))

/** Services that clients' requests use: they are built with the server, not with the management plane. */
const servedEarly = new Set(["batches", "files", "flags", "skills"])

/** Repositories in the chunk of what alone uses them, which is loaded when it is asked for. */
const reposElsewhere = new Set([
  "agentBridge/repo",
  "audit/repo",
  "bills/BillSumsRepo",
  "flags/repo",
  "inspector/repo",
  "playground/repo",
  "plugins/repo",
  "usage/CallSumsRepo",
  "usage/FacetsRepo",
  "usage/SeriesRepo",
  "usage/UsageExportRepo",
  "usage/UsageSearchRepo",
  "usageHistory/repo"
])

const head = (words) => `/** ${words} Written by \`bin/subjects.mjs\`: do not edit. */\n`
const text = (path) => readFileSync(join(src, path), "utf8")
const list = (path, test) => readdirSync(join(src, path)).filter(test).toSorted()

/** The one match of a pattern in a file of fixed form. */
const the = (path, pattern, what) => {
  const found = pattern.exec(text(path))
  if (found === null) throw new Error(`src/${path} has no ${what}.`)
  return found.slice(1)
}

const names = readdirSync(join(src, "subjects"), { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name)
  .toSorted()
const having = (file) => names.filter((name) => existsSync(join(src, "subjects", name, file)))

/** Subjects with routes: their declaration, their group of the contract, and their handlers. */
const routed = having("subject.ts")
  .map((folder) => {
    const path = `subjects/${folder}`
    const [name, group] = the(`${path}/subject.ts`, /^export const (\w+) = subject\("(\w+)"/m, "declaration")
    if (name !== group) throw new Error(`src/${path}/subject.ts: '${name}' is not the name of the group '${group}'.`)
    const [contract, made] = the(
      `${path}/routes.ts`,
      /^export (?:class|const) (\w+) (?:extends|=) HttpApiGroup\.make\("(\w+)"\)/m,
      "group of the API"
    )
    if (made !== group) throw new Error(`src/${path}/routes.ts makes the group '${made}', subject.ts '${group}'.`)
    const chunk = /^ {2}handlers: "(\w+)"/m.exec(text(`${path}/subject.ts`))?.[1] ?? "others"
    return { path, group, contract, chunk: `${chunk[0].toUpperCase()}${chunk.slice(1)}` }
  })
  .toSorted((left, right) => (left.group < right.group ? -1 : 1))

const subjects = () =>
  [
    head("The declarations of all subjects that have routes, by the names of their groups."),
    ...routed.map(({ group, path }) => `import { ${group} } from "../${path}/subject.ts"\n`),
    `\nexport const subjects = {\n${routed.map(({ group }) => `  ${group}`).join(",\n")}\n}\n`
  ].join("")

const contract = () =>
  [
    head("All groups of the management contract."),
    'import * as HttpApi from "@effect/platform/HttpApi"\n',
    ...routed.map(({ contract: name, path }) => `import { ${name} } from "../${path}/routes.ts"\n`),
    '\nexport const groups = HttpApi.make("gateway")\n',
    routed.map(({ contract: name }) => `  .add(${name})\n`).join("")
  ].join("")

const client = () =>
  [
    head("The groups of the contract, each loaded alone: making a client of all takes longer than most commands."),
    "\nexport const groups = {\n",
    routed
      .map(
        ({ contract: name, group, path }) =>
          `  ${group}: () => import("../../${path}/routes.ts").then((m) => m.${name})`
      )
      .join(",\n"),
    "\n}\n"
  ].join("")

const handlers = () =>
  [
    head("The handlers of each group, in the chunk that has them."),
    "\nexport const handlers = {\n",
    routed
      .map(({ chunk, group }) => `  ${group}: () => import("./groups/${chunk}.generated.ts").then((m) => m.${group})`)
      .join(",\n"),
    "\n}\n"
  ].join("")

const chunks = {
  Usual: "Groups that most gateways are asked for.",
  Traffic: "Groups of captured traffic and of inbound and outbound connections.",
  Others: "Groups that many gateways are never asked for."
}

const chunk = (name, words) =>
  head(words) +
  routed
    .filter((each) => each.chunk === name)
    .map(({ group, path }) => `export { layer as ${group} } from "../../../${path}/handlers.ts"\n`)
    .join("")

/** Services of the management plane, those that others import first. */
const services = having("service.ts")
  .filter((name) => !servedEarly.has(name) && /^export const layer\b/m.test(text(`subjects/${name}/service.ts`)))
  .map((name) => {
    const source = text(`subjects/${name}/service.ts`)
    const [tag] = the(`subjects/${name}/service.ts`, /^export class (\w+) extends Context\.Tag\(/m, "tag")
    const needs = Array.from(source.matchAll(/ from "\.\.\/(\w+)\/service\.ts"/g), ([, needed]) => needed)
    return { name, tag, needs }
  })

/** Services by how many steps they stand above those that need none of the others. */
const levels = () => {
  const left = new Map(services.map((service) => [service.name, service]))
  const found = []
  while (left.size > 0) {
    const level = [...left.values()].filter(({ needs }) => !needs.some((needed) => left.has(needed)))
    if (level.length === 0) throw new Error(`Services need each other: ${[...left.keys()].join(", ")}.`)
    for (const { name } of level) left.delete(name)
    found.push(level)
  }
  return found
}

const pascal = (name) => `${name[0].toUpperCase()}${name.slice(1)}`

const serviceLayers = () => {
  const merged = levels().map((level) => level.map(({ name }) => `  ${pascal(name)}.layer`).join(",\n"))
  return [
    head("The layers of the subjects' services, each over those of the services it needs."),
    'import * as Layer from "effect/Layer"\n',
    ...services.map(({ name }) => `import * as ${pascal(name)} from "../subjects/${name}/service.ts"\n`),
    ...merged.map((level, at) => {
      const layer = `Layer.mergeAll(\n${level}\n)`
      return `\nconst level${at} = ${at === 0 ? layer : `${layer}.pipe(Layer.provideMerge(level${at - 1}))`}\n`
    }),
    `\nexport const subjectServices = level${merged.length - 1}\n`
  ].join("")
}

const serviceTypes = () =>
  [
    head("The services of the subjects that the management plane works on."),
    ...services.map(({ name }) => `import type * as ${pascal(name)} from "../../subjects/${name}/service.ts"\n`),
    `\nexport type SubjectServices =\n${services.map(({ name, tag }) => `  | ${pascal(name)}.${tag}\n`).join("")}`
  ].join("")

const repositories = () => {
  const repos = names.flatMap((name) =>
    list(`subjects/${name}`, (file) => /^(?:repo|[A-Z]\w*Repo)\.ts$/.test(file))
      .map((file) => `${name}/${file.slice(0, -3)}`)
      .filter((path) => !reposElsewhere.has(path))
      .map((path) => ({
        path,
        tag: the(`subjects/${path}.ts`, /^export class (\w+) extends Context\.Tag\(/m, "tag")[0]
      }))
  )
  return [
    head("All repositories at once, for the composition root and for tests."),
    'import type * as SqlClient from "@effect/sql/SqlClient"\n',
    'import * as Layer from "effect/Layer"\n',
    ...repos.map(({ path, tag }) => `import * as ${tag} from "../subjects/${path}.ts"\n`),
    'import type { Secrets } from "./secrets/Secrets.ts"\n',
    `\nexport type Repos =\n${repos.map(({ tag }) => `  | ${tag}.${tag}\n`).join("")}`,
    "\nexport const layer: Layer.Layer<Repos, never, SqlClient.SqlClient | Secrets> = Layer.mergeAll(\n",
    `${repos.map(({ tag }) => `  ${tag}.layer`).join(",\n")}\n)\n`
  ].join("")
}

const commands = () => {
  const trees = having("commands/tree.ts")
  return [
    head("The commands of the subjects. What they do is loaded when they are run."),
    'import type { TreeNode } from "./tree/Tree.ts"\n',
    ...trees.map((name) => `import { commands as ${name} } from "../subjects/${name}/commands/tree.ts"\n`),
    `\nexport const subjectCommands: ReadonlyArray<ReadonlyArray<TreeNode>> = [\n`,
    `${trees.map((name) => `  ${name}`).join(",\n")}\n]\n`
  ].join("")
}

const sealedColumns = () => {
  const columnsOf = new Map()
  for (const name of names) {
    for (const file of list(`subjects/${name}`, (each) => each.endsWith(".ts"))) {
      const source = text(`subjects/${name}/${file}`)
      const calls = source.match(/\bsealedColumn\(/g)?.length ?? 0
      const found = [...source.matchAll(/\bsealedColumn\([^"]*"(\w+)",\s*"(\w+)"/g)]
      if (found.length !== calls) {
        throw new Error(
          `src/subjects/${name}/${file}: 'sealedColumn' has to be called with the table and the column as texts.`
        )
      }
      for (const [, table, column] of found) columnsOf.set(table, [...(columnsOf.get(table) ?? []), column])
    }
  }
  return [
    head("Every encrypted column, for the reset."),
    "\nexport const sealedColumns = [\n",
    Array.from(
      columnsOf,
      ([table, columns]) => `  { table: "${table}", columns: [${columns.map((column) => `"${column}"`).join(", ")}] }`
    ).join(",\n"),
    "\n]\n"
  ].join("")
}

const migrations = () => {
  const files = list("store/migrations", (file) => /^\d{4}_\w+\.ts$/.test(file)).map((file) => file.slice(0, -3))
  const nameOf = (file) => file.slice(5).replaceAll(/_(\w)/g, (_, letter) => letter.toUpperCase())
  return [
    head("Every migration in the order of its number. A static record, so that the bundle needs no files at run time."),
    ...files.map((file) => `import ${nameOf(file)} from "./${file}.ts"\n`),
    `\nexport const migrations = {\n${files.map((file) => `  "${file}": ${nameOf(file)}`).join(",\n")}\n}\n`
  ].join("")
}

/** Texts of the lists by their paths below `src`. */
export const generated = () =>
  new Map([
    ["contract/Subjects.generated.ts", subjects()],
    ["contract/Groups.generated.ts", contract()],
    ["cli/gateway/Groups.generated.ts", client()],
    ["cli/subjectCommands.generated.ts", commands()],
    ["entry/management/Handlers.generated.ts", handlers()],
    ...Object.entries(chunks).map(([name, words]) => [
      `entry/management/groups/${name}.generated.ts`,
      chunk(name, words)
    ]),
    ["entry/management/SubjectServices.generated.ts", serviceTypes()],
    ["app/subjectServices.generated.ts", serviceLayers()],
    ["store/Repos.generated.ts", repositories()],
    ["store/secrets/sealedColumns.generated.ts", sealedColumns()],
    ["store/migrations/all.generated.ts", migrations()]
  ])

/** Lists that are not what the folders say. */
export const outdated = () =>
  [...generated()]
    .filter(([path, wanted]) => !existsSync(join(src, path)) || text(path) !== wanted)
    .map(([path]) => path)

/** Writes the lists that are outdated; their paths. */
export const writeSubjects = () => {
  const all = generated()
  const paths = outdated()
  for (const path of paths) writeFileSync(join(src, path), all.get(path))
  return paths
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  for (const path of writeSubjects()) process.stdout.write(`Wrote src/${path}.\n`)
}
