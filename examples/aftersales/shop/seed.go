package shop

import (
	"context"
	"database/sql"
	"time"
)

// Facts about the shop that it is born with.
const (
	limitDays           = 30
	approvalAbove Money = 200_00
	payoutDays          = 2 // from a request until the money is there
)

var customers = []Customer{
	{"lin", "Lin Xiao", "林晓"},
	{"chen", "Chen Yu", "陈宇"},
}

var products = []struct {
	sku, en, zh string
	price       Money
}{
	{"LAMP", "standing lamp", "落地灯", 320_00},
	{"SHADE", "linen lampshade", "亚麻灯罩", 90_00},
	{"BULB", "warm light bulb", "暖光灯泡", 35_00},
	{"CUP", "pair of tea cups", "茶杯一对", 68_00},
	{"KETTLE", "electric kettle", "电热水壶", 129_00},
	{"DESK", "oak desk", "橡木书桌", 1_280_00},
}

type bought struct {
	sku   string
	count int
}

// The orders of a new shop. The ages are days before its first start, so that each rule of the policy has an order: the desk is
// made to measure and comes the day after tomorrow.
var orders = []struct {
	n        int64
	customer string
	age      int
	items    []bought
	refunded bool
}{
	{1000, "lin", -2, []bought{{"DESK", 1}}, false},
	{1001, "lin", 45, []bought{{"KETTLE", 1}}, false},
	{1002, "lin", 9, []bought{{"CUP", 1}}, false},
	{1003, "lin", 12, []bought{{"BULB", 2}}, true},
	{1004, "chen", 1, []bought{{"DESK", 1}}, false},
	{1005, "lin", 2, []bought{{"LAMP", 1}, {"SHADE", 1}, {"BULB", 2}}, false},
}

// seed fills an empty shop. A shop that has a policy is left as it is.
func seed(ctx context.Context, tx *sql.Tx, now time.Time) error {
	done, err := tx.ExecContext(ctx, `INSERT OR IGNORE INTO policy VALUES (1, ?, ?, ?, 0)`, limitDays, approvalAbove, payoutDays)
	if err != nil {
		return err
	}
	if n, err := done.RowsAffected(); n == 0 || err != nil {
		return err
	}
	for _, c := range customers {
		if _, err := tx.ExecContext(ctx, `INSERT INTO customers VALUES (?, ?, ?)`, c.ID, c.NameEN, c.NameZH); err != nil {
			return err
		}
	}
	for _, p := range products {
		_, err := tx.ExecContext(ctx, `INSERT INTO products VALUES (?, ?, ?, ?)`, p.sku, p.en, p.zh, p.price)
		if err != nil {
			return err
		}
	}
	for _, o := range orders {
		delivered := now.AddDate(0, 0, -o.age)
		if err := insertOrder(ctx, tx, o.n, o.customer, delivered, o.items); err != nil {
			return err
		}
		if !o.refunded {
			continue
		}
		_, err := tx.ExecContext(ctx, `INSERT INTO payments (key, order_n, customer, wished, amount, reason, at)
			VALUES (?, ?, ?, 0, ?, ?, ?)`, "seed", o.n, o.customer, 70_00, "both bulbs were broken", delivered.Add(time.Hour).UnixMilli())
		if err != nil {
			return err
		}
	}
	return nil
}

func insertOrder(ctx context.Context, tx *sql.Tx, n int64, customer string, delivered time.Time, items []bought) error {
	if _, err := tx.ExecContext(ctx, `INSERT INTO orders VALUES (?, ?, ?)`, n, customer, delivered.UnixMilli()); err != nil {
		return err
	}
	for i, it := range items {
		if _, err := tx.ExecContext(ctx, `INSERT INTO items VALUES (?, ?, ?, ?)`, n, i, it.sku, it.count); err != nil {
			return err
		}
	}
	return nil
}
