/** The environment of programs that the gateway starts. */

/** Variables that a program needs to run, and none of the gateway's. */
const passedOn = ["PATH", "HOME", "LANG", "LC_ALL", "TMPDIR", "SYSTEMROOT", "USERPROFILE", "APPDATA"]

export const programEnvironment = (environment: ReadonlyMap<string, string>): Readonly<Record<string, string>> =>
  Object.fromEntries(
    passedOn.flatMap((name) => {
      const value = environment.get(name)
      return value === undefined ? [] : [[name, value]]
    })
  )
