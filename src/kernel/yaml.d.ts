/** A data file: what it holds is known to the schema that reads it (`DataFile.ts`). */
declare module "*.yaml" {
  const value: unknown
  export default value
}
