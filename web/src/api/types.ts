/** Short names for types that are generated from the OpenAPI document. */
import type { Schemas } from "./client";

export type Backtest = Schemas["ShownBacktest"];
export type Change = Schemas["Change"];
export type FieldChange = Schemas["FieldChange"];
export type ProfitFigure = Schemas["Figure"];
export type Check = Schemas["Check"];
export type Figures = Schemas["Figures"];
export type Fill = Schemas["FillShown"];
export type Glance = Schemas["Glance"];
export type ModelEvent = Schemas["ShownEvent"];
export type LastOrder = Schemas["LastOrder"];
export type Lifecycle = Schemas["Lifecycle"];
export type Line = Schemas["ShownLine"];
export type Mark = Schemas["Mark"];
export type Metric = Schemas["Shown"] | Schemas["OwnMetric"];
export type Order = Schemas["ShownOrder"];
export type OrderMark = Schemas["OrderMark"];
export type Pnl = Schemas["Pnl"];
export type Point = Schemas["Point"];
export type Portfolio = Schemas["Portfolio"];
export type Prices = Schemas["Prices"];
export type ScreenerRows = Schemas["ScreenerResult"]["result"];

export interface Page<T> {
  items: T[];
  next: string | null;
}
export type Account = Schemas["ShownAccount"];
