/** `/api/context/rtk`. */
import * as HttpApiBuilder from "@effect/platform/HttpApiBuilder"
import * as Effect from "effect/Effect"
import { contractOf } from "../../contract/GroupContract.ts"
import { Rtk } from "./routes.ts"
import { RtkTools } from "./service.ts"
import { answered } from "../../entry/handling/Answers.ts"
import { iso } from "../../entry/handling/Views.ts"

export const layer = HttpApiBuilder.group(contractOf(Rtk), "rtk", (handlers) =>
  Effect.map(RtkTools, (rtk) => {
    const list = Effect.map(rtk.filters, ({ faults, filters }) => {
      const disabled = new Set(rtk.settings().disabledFilters)
      return {
        filters: filters.map(({ compiled, source }) => {
          const {
            category,
            description,
            id,
            label,
            match,
            preserve = {},
            priority,
            rules,
            tests = []
          } = compiled.filter
          const described = { id, label, description, category, priority, match, rules, preserve }
          return Object.assign(described, { source, enabled: !disabled.has(id), tests: tests.length })
        }),
        problems: faults.map(({ file, filter, message }) => ({ file, filter, message }))
      }
    })
    return handlers
      .handle("config", () => Effect.sync(rtk.settings))
      .handle("setConfig", ({ payload }) => answered(rtk.replaceSettings(payload)))
      .handle("filters", () => list)
      .handle("test", ({ payload }) =>
        answered(
          Effect.map(rtk.test(payload), ({ output, results }) => {
            const passed = results.filter((result) => result.passed).length
            return { passed, failed: results.length - passed, results, output }
          })
        )
      )
      .handle("rawOutput", ({ path, urlParams }) =>
        answered(
          Effect.map(rtk.rawOutput(path.id, urlParams.redact), ({ createdAtMs, ...output }) => ({
            ...output,
            createdAt: iso(createdAtMs)
          }))
        )
      )
  })
)
