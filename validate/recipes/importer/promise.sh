# It is found by its content, though Kineto's begin with a brace, too; its times are in the database; a bad file leaves nothing.
printf '{toy profile}\nkernel,start_ns,end_ns\ngemm_toy,1000,3500\nsilu_toy,4000,4250\n' >"$TMP/any.name"
prints 'imported  *2 ' trace import "$TMP/any.name" -o "$TMP/toy.db"
prints 'gemm_toy' trace top "$TMP/toy.db"
prints '2.5' trace top "$TMP/toy.db" --format csv
prints 'was there already' trace import "$TMP/any.name" -o "$TMP/toy.db"
refuses 'toy' trace import "$TMP/any.name" --from nothing -o "$TMP/toy.db"
printf '{toy profile}\nkernel,start_ns,end_ns\ngemm_toy,1000,soon\n' >"$TMP/bad"
refuses 'bad:3' trace import "$TMP/bad" -o "$TMP/bad.db"
