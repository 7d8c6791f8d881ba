/** The filters that this program comes with, as data beside this file. */
import { checkedByTests } from "../../../../kernel/DataFile.ts"
import type { Filter } from "../Filter.ts"
import checksJs from "./checksJs.yaml"
import compilers from "./compilers.yaml"
import containers from "./containers.yaml"
import data from "./data.yaml"
import files from "./files.yaml"
import git from "./git.yaml"
import infrastructure from "./infrastructure.yaml"
import network from "./network.yaml"
import packages from "./packages.yaml"
import packagesJs from "./packagesJs.yaml"
import shapes from "./shapes.yaml"
import system from "./system.yaml"
import tests from "./tests.yaml"

export const builtInFilters: ReadonlyArray<Filter> = [
  git,
  packagesJs,
  checksJs,
  tests,
  compilers,
  containers,
  infrastructure,
  files,
  system,
  network,
  packages,
  data,
  shapes
].flatMap((filters) => checkedByTests<ReadonlyArray<Filter>>(filters))
