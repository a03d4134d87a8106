// gorm v1: AutoMigrate and Create, the only way it inserts.
package main

import (
	"fmt"
	"os"

	"github.com/jinzhu/gorm"
	_ "github.com/jinzhu/gorm/dialects/postgres"
)

type Author struct {
	ID   int64
	Name string `gorm:"unique"`
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func connect() *gorm.DB {
	db, err := gorm.Open("postgres", "sslmode=disable")
	check(err)
	return db
}

func main() {
	db := connect()
	check(db.AutoMigrate(&Author{}).Error)
	db.Close()

	db = connect()
	fmt.Printf("= authors gorm %s (bigserial; RETURNING)\n", os.Getenv("CLIENT_VERSION"))
	for i := -1; i < 10; i++ {
		author := Author{Name: fmt.Sprintf("name %d", i)}
		check(db.Create(&author).Error)
		fmt.Printf("%d\t%s\n", author.ID, author.Name)
	}
}
