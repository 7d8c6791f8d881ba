/** The filters that this program comes with. */
import type { Filter } from "../Filter.ts"
import { checksJs } from "./checksJs.ts"
import { compilers } from "./compilers.ts"
import { containers } from "./containers.ts"
import { data } from "./data.ts"
import { files } from "./files.ts"
import { git } from "./git.ts"
import { infrastructure } from "./infrastructure.ts"
import { network } from "./network.ts"
import { packages } from "./packages.ts"
import { packagesJs } from "./packagesJs.ts"
import { shapes } from "./shapes.ts"
import { system } from "./system.ts"
import { tests } from "./tests.ts"

export const builtInFilters: ReadonlyArray<Filter> = [
  ...git,
  ...packagesJs,
  ...checksJs,
  ...tests,
  ...compilers,
  ...containers,
  ...infrastructure,
  ...files,
  ...system,
  ...network,
  ...packages,
  ...data,
  ...shapes
]
