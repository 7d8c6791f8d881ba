/** The flag of commands that look back over a range of time. */
import * as Options from "@effect/cli/Options"
import { type UsageRange, usageRanges } from "../../../domain/UsageRange.ts"

export const rangeFlag = (usual: UsageRange) =>
  Options.choice("range", usageRanges).pipe(
    Options.withDescription(`How far back: ${usageRanges.join(", ")}; by default ${usual}.`),
    Options.withDefault(usual)
  )
