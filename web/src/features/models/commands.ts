/** The commands of the first steps. All values in them are quoted for a shell. */
import { quoted } from "~/format/shell";

export function signInCommand(address: string, email: string): string {
  return [
    `curl -s ${quoted(`${address}/auth/signin`)} \\`,
    `  --data-urlencode ${quoted(`email=${email}`)} \\`,
    "  --data-urlencode 'password=…'",
  ].join("\n");
}

export function deployCommand(address: string, project: string): string {
  return [
    "zip -r model.zip model && \\",
    `curl -s ${quoted(`${address}/model/deploy`)} -H 'token: …' \\`,
    `  -F ${quoted(`projectId=${project}`)} -F createNew=true -F name=mine -F model=@model.zip`,
  ].join("\n");
}

export function pushCommand(
  address: string,
  made: { model: string; key: string; pass: string },
): string {
  return [
    `curl -s ${quoted(`${address}/v1/live/spot-market`)} \\`,
    `  -H ${quoted(`model_id: ${made.model}`)} -H ${quoted(`api_key: ${made.key}`)} \\`,
    `  -H ${quoted(`api_pass: ${made.pass}`)} -H 'Content-Type: application/json' \\`,
    `  -d '{"id": "1", "symbol": "BTC-USD", "exchange": "kraken", "side": "buy", "size": 0.01, "executionPrice": 64000}'`,
  ].join("\n");
}
