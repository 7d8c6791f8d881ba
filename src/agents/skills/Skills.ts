/** The agent skills: their pages, made from the API document and the commands, with the parts that people wrote into the files. */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Ref from "effect/Ref"
import { join } from "node:path"
import { makeLane } from "../../kernel/Lane.ts"
import type { JsonMap } from "../../contract/document/JsonSchemas.ts"
import {
  apiSkillIds,
  areaOf,
  categoryOf,
  commandSkillIds,
  type SkillCategory,
  type SkillId,
  skillIds
} from "../../subjects/skills/entity.ts"
import { AppConfig } from "../../platform/AppConfig.ts"
import { apiIndex, missingRoutes, routeCount } from "./ApiIndex.ts"
import { apiPage } from "./ApiPage.ts"
import { CommandIndex } from "../../platform/CommandIndex.ts"
import { commandPage } from "./CommandPage.ts"
import { withCustom } from "./CustomBlock.ts"
import { renew, type RenewalReport } from "./renew.ts"
import * as SkillFiles from "./SkillFiles.ts"
import { skillWords } from "./SkillTexts.ts"

export interface Skill {
  readonly id: SkillId
  readonly name: string
  readonly description: string
  readonly category: SkillCategory
  readonly area: string
}

export interface Coverage {
  readonly api: { readonly have: number; readonly total: number }
  readonly cli: { readonly have: number; readonly total: number }
  readonly totalSkills: number
  /** Management routes that a skill describes, and those that none does. */
  readonly routes: { readonly have: number; readonly total: number; readonly missing: ReadonlyArray<string> }
  readonly commands: { readonly have: number; readonly total: number; readonly missing: ReadonlyArray<string> }
  /** Time at which the pages were made, in milliseconds since 1970. */
  readonly generatedAtMs: number
}

export interface GenerateOptions {
  readonly dryRun: boolean
  /** Removes folders in the place of skills that are no skills. */
  readonly prune: boolean
  /** Null: all. */
  readonly onlyIds: ReadonlyArray<SkillId> | null
}

export class Skills extends Context.Tag("gateway/agents/skills/Skills")<
  Skills,
  {
    readonly list: (category: SkillCategory | null, area: string | null) => ReadonlyArray<Skill>
    readonly get: (id: SkillId) => Skill
    /** Folder of the files. */
    readonly folder: string
    /** The page as it is now, with the custom block of the file. */
    readonly page: (id: SkillId) => Effect.Effect<string>
    readonly coverage: Effect.Effect<Coverage>
    /** Writes the files, one run at a time. */
    readonly generate: (options: GenerateOptions) => Effect.Effect<RenewalReport>
  }
>() {}

const skillOf = (id: SkillId): Skill => {
  const { description, name } = skillWords[id]
  return { id, name, description, category: categoryOf(id), area: areaOf(id) }
}

const skills: ReadonlyArray<Skill> = skillIds.map(skillOf)

interface Pages {
  readonly byId: ReadonlyMap<SkillId, string>
  readonly coverage: Coverage
}

export const make = Effect.gen(function* () {
  const { dataDir } = yield* AppConfig
  const describeCommands = yield* CommandIndex
  const folder = join(dataDir, "skills")
  const oneAtATime = makeLane(1)
  const writtenAtMs = yield* Ref.make<number | null>(null)

  /** Pages, made with the first request: the API document is not needed before. */
  const pages = yield* Effect.cached(
    Effect.gen(function* () {
      const commands = yield* describeCommands
      // It has the schemas of every route.
      const { openApiJson } = yield* Effect.promise(() => import("../../contract/OpenApiDocument.ts"))
      const operations = apiIndex(JSON.parse(openApiJson()) as JsonMap)
      const byId = new Map<SkillId, string>()
      for (const id of apiSkillIds) byId.set(id, apiPage(id, operations.get(id) ?? []))
      for (const id of commandSkillIds) {
        byId.set(
          id,
          commandPage(
            id,
            commands.filter(({ skill }) => skill === id)
          )
        )
      }
      const missing = missingRoutes(operations)
      const missingCommands = commands.filter(({ skill }) => skill === null).map(({ path }) => path.join(" "))
      const coverage: Coverage = {
        api: { have: apiSkillIds.length, total: apiSkillIds.length },
        cli: { have: commandSkillIds.length, total: commandSkillIds.length },
        totalSkills: skillIds.length,
        routes: { have: routeCount - missing.length, total: routeCount, missing },
        commands: { have: commands.length - missingCommands.length, total: commands.length, missing: missingCommands },
        generatedAtMs: yield* Clock.currentTimeMillis
      }
      return { byId, coverage } satisfies Pages
    })
  )

  const page = Effect.fn("Skills.page")(function* (id: SkillId) {
    // A file that cannot be read has no part in the page.
    const former = yield* Effect.catchAll(SkillFiles.read(folder, id), () => Effect.succeed(null))
    const text = (yield* pages).byId.get(id) ?? ""
    return former === null ? text : withCustom(text, former)
  })

  const generate = Effect.fn("Skills.generate")(function* ({ dryRun, onlyIds, prune }: GenerateOptions) {
    const { byId } = yield* pages
    const pageOf = (id: SkillId) => Effect.succeed(byId.get(id) ?? "")
    const report = yield* renew({ folder, ids: onlyIds ?? skillIds, pageOf, dryRun, prune })
    if (!dryRun) yield* Ref.set(writtenAtMs, yield* Clock.currentTimeMillis)
    return report
  }, oneAtATime.inTurn)

  return Skills.of({
    list: (category, area) =>
      skills.filter(
        (skill) => (category === null || skill.category === category) && (area === null || skill.area === area)
      ),
    get: skillOf,
    folder,
    page,
    coverage: Effect.zipWith(pages, Ref.get(writtenAtMs), ({ coverage }, atMs) =>
      atMs === null ? coverage : { ...coverage, generatedAtMs: atMs }
    ),
    generate
  })
})

export const layer: Layer.Layer<Skills, never, AppConfig> = Layer.effect(Skills, make)
